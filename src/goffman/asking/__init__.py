"""What an audit asks of whom, settled before anyone is asked."""
