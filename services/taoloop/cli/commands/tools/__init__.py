"""`taoloop tools`: tool contracts, checked, played, recorded and called."""
