"""THE STUDIES' OWN NUMBERS, from the outputs that their authors published."""
