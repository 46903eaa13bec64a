"""What can go wrong with a device, as one family."""


class DeviceError(Exception):
    """Any fault of a device. The message is a sentence that tells a person what to do."""


class DeviceMissing(DeviceError, FileNotFoundError):
    """The device is not there: not plugged in, or its driver did not find it."""


class DeviceRefused(DeviceError, PermissionError):
    """The device is there but may not be used: no permission, or another program holds it."""


class DeviceSettings(DeviceError, ValueError):
    """A device was described wrongly: an unknown pin, a seat twice, a disk without a tag."""
