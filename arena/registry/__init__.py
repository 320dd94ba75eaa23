"""Where bots and plug-in games come from: names, files, bundles, submissions."""
