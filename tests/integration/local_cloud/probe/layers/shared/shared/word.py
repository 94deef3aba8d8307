"""What the layer brings."""

WORD = "from the layer"
