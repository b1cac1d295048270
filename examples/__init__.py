"""The made-up logs of the demo and of the tests (`logs/`), and the generator that wrote them.

The generator imports nothing else from Tapewise, because the code that reads the logs must not decide what is
in them.
"""
