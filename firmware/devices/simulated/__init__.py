"""Devices made of software, driven from outside by the verbs of the physical world.

Each sits at the far end of the real cable: a pty that speaks the puck reader's protocol, mock pins that
bounce, a camera that is handed its pictures. The code that reads them is the code that reads the real ones.
"""
