"""`grove fit`: can every gang be placed?"""
