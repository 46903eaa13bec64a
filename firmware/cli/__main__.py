from firmware.cli.main import main

main()
