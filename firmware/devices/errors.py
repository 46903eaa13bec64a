"""The errors of devices."""

from firmware.messages import MessageError


class DeviceError(MessageError):
    """Any fault of a device. The message is a sentence that states what the user should do."""


class DeviceMissing(DeviceError, FileNotFoundError):
    """The device is absent: not plugged in, or not found by its driver."""


class DeviceRefused(DeviceError, PermissionError):
    """The device exists but may not be used: no permission, or another program holds it."""


class DeviceSettings(DeviceError, ValueError):
    """Invalid settings of a device: an unknown pin, a duplicate seat, a disk without a tag."""
