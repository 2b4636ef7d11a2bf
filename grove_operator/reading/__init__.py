"""What files mean: which of them are input, their bytes, and the documents and objects in them."""
