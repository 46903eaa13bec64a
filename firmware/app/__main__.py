from firmware.app.main import main

main()
