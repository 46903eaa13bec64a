"""Run the bench. The reading process imports this file again and needs nothing of it."""

if __name__ == "__main__":
    from tests.campaigns.security.cheats.bench import main

    main()
