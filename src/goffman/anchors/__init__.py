"""WHAT PEOPLE SAID: numbers of people, to set those of models beside."""
