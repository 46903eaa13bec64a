"""The card reader's model: the ONNX file, its manifest and its card; `training` makes it."""
