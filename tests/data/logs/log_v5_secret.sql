BEGIN TRANSACTION;
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    identity BLOB NOT NULL UNIQUE,
    id BLOB NOT NULL,            -- seeds openings, and dice that a block's matches share
    board INTEGER NOT NULL REFERENCES boards,
    round INTEGER NOT NULL,
    opening INTEGER NOT NULL,    -- random plies
    seed INTEGER NOT NULL,
    dice INTEGER NOT NULL,       -- kind of dice: arena.core.match_ids.Kind
    key INTEGER REFERENCES keys  -- key of secret dice; NULL for public ones
);
INSERT INTO "blocks" VALUES(1,X'8F79C4CB5E65F61DAD4ACDF0043ED6A7',X'87AB3C5A50ED39E66A37BE447FF3534D',1,0,1,11,2,1);
INSERT INTO "blocks" VALUES(2,X'7B08D73457DDA7E9DF54910B739B0247',X'4BC1385BFF3A61A3BF0C905B932FAC42',1,0,1,11,2,1);
INSERT INTO "blocks" VALUES(3,X'C4C0FFB5C062CC449405BE8A52AF480F',X'6C300C043040A85740F83215A5923129',1,0,1,11,2,1);
CREATE TABLE boards (
    board INTEGER PRIMARY KEY,
    game TEXT NOT NULL,          -- canonical spec
    players INTEGER NOT NULL,
    UNIQUE (game, players)
);
INSERT INTO "boards" VALUES(1,'epicycle(setup=random)',2);
CREATE TABLE bots (
    bot INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE, -- name@hash
    spec TEXT NOT NULL,
    module TEXT NOT NULL,
    class TEXT NOT NULL,
    bundle TEXT NOT NULL,
    digest BLOB NOT NULL
);
INSERT INTO "bots" VALUES(1,'Plain@502568acf3554e5791c2d032a8ece9ee','Plain','b','Plain','75b4b8702f719270ffb462ea6284e5a0',X'3011C6A2BDB057B0');
INSERT INTO "bots" VALUES(2,'Noting@50c6ad47c93c2b817d07cb4f33a60cf7','Noting','b','Noting','75b4b8702f719270ffb462ea6284e5a0',X'9D6516626D8633A7');
INSERT INTO "bots" VALUES(3,'Last@401109a4b4caca558680697a4517ba51','Last','b','Last','75b4b8702f719270ffb462ea6284e5a0',X'5CF4D50EFDCC6E21');
CREATE TABLE bundles (
    bundle TEXT PRIMARY KEY,     -- hash of names and contents
    files BLOB NOT NULL,         -- zlib over JSON: {path: hexadecimal content}
    digest BLOB NOT NULL
);
INSERT INTO "bundles" VALUES('75b4b8702f719270ffb462ea6284e5a0',X'789CBD543D4FC4300CFD2BA7CE085227B11B3606865B0081C48AFA91AE20C18210FF9D67272D3D211D2CC755CAA5CEF3B3DF73EE3E9AE1FCE5BDB9DC35649F18B8E3488E896709E2B19B99C9C9121FF12E16278EE23971D0B89D278B3362236223F6AD464AAE24EC34BF95C491C312E78972A9ED7AD7330B2A23B6ED20F184CC594890152CAE58A0BDF1794545E30636535730943C30E4EA53F4D50E8CB7553ED46B3943C57CD8C992A7FAD401D4EA8099A13952A72B985855A27E502EC40F2BD647D4A92011DF59D13533EB3BE4E6CA9CB832AF6C597D64417F639CB1EA490232A3FB8E12A59F2E84ACCAD505301FF1A1E262F1B7F86C9DE9646C72EA894D13BE638D2B4A6C9A64B721A983E65D613256BB25898715711A57571FB96A21E7A79227B4E1CAABAEF4DB6C68F2ADDD373E98D392EF486B581DADE4550730D6FBA9E75A76E1E8DD06BFBAFEFD9B23C74B9EDBD6F99F7BFE57BD7150DFE3E4FAE66CD70CCF6FAF175777FBA7C7EBFB87FDED8DFE37F916679F5FCEC90F84',X'421D03D07556AB6E');
CREATE TABLE faults (            -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
CREATE TABLE keys (              -- of secret dice, in the order in which they were created
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    hash TEXT NOT NULL UNIQUE,   -- BLAKE2b-256 of it, hexadecimal
    created TEXT NOT NULL,       -- UTC
    disclosed TEXT,              -- UTC: when it was first published
    digest BLOB NOT NULL
);
INSERT INTO "keys" VALUES(1,X'AD8FF3BF612D4A693283367ADA451A9C225993EBA5D3FBE8A1D42C05B54546E8','eda5338f1051ccb46493b1dc0b14c5d9be4d2a1fd01b78a9bb8d6c406b78b4c0','2026-11-22T19:24:36.807795+00:00',NULL,X'5F0FCC92E8807561');
CREATE TABLE matches (
    block INTEGER NOT NULL REFERENCES blocks,
    lineup INTEGER NOT NULL,
    ended TEXT NOT NULL,
    plies INTEGER NOT NULL,
    timed INTEGER NOT NULL,      -- 1 if it depended on a clock or the machine's memory
    final BLOB NOT NULL,         -- hash of the final position
    moves NOT NULL,              -- every ply: TEXT in notation, or a BLOB: zlib of it
    notes TEXT,                  -- of bots on their moves: JSON [[ply, text], ...]
    digest BLOB NOT NULL,        -- of the row, its block and its seats: all that follows from the plan
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
INSERT INTO "matches" VALUES(1,0,'normal',5,0,X'810CEA91A590CBA8','LMMSSSLML S- L- L- M+','[[2, "9174652532673122347"], [4, "9174652532673122347"]]',X'5C7818B2ED4D68BE');
INSERT INTO "matches" VALUES(2,0,'normal',7,0,X'9FA1B2FA556C3E41','SSMMLLLSM M+ L- S+ M- L+ M-',NULL,X'E5AF698683FC3127');
INSERT INTO "matches" VALUES(2,1,'normal',16,0,X'5750627D20B2A8EA','SLSMSLMLM L+ M- S- L- S- M+ L- S- L- S- M- L- S- L- S+',NULL,X'12109EA248E19466');
INSERT INTO "matches" VALUES(3,0,'normal',11,0,X'7B9EDE56B96A8A95','MSLSSLMLM M+ L+ S+ S+ L- M+ L+ S+ M+ S-','[[5, "12054154764084032052"], [7, "12054154764084032052"], [9, "12054154764084032052"]]',X'F25401430FAFE273');
INSERT INTO "matches" VALUES(3,1,'normal',5,0,X'EA1A2D22F08B1B96','MSMLLSMLS M- S- L+ L+','[[2, "15882542866539664879"], [4, "15882542866539664879"]]',X'0A5E4D20B09603D9');
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    plan TEXT NOT NULL,          -- the resolved plan, JSON
    versions TEXT NOT NULL,      -- of Python and the packages that played, JSON
    started TEXT NOT NULL,       -- UTC
    finished TEXT,               -- UTC: when every match of the plan was in the log
    digest BLOB NOT NULL         -- of the row, as all columns of this name (arena.store.digests)
);
INSERT INTO "runs" VALUES(1,'{"boards": [{"blocks": 4, "bots": ["Last", "Noting", "Plain"], "counts": null, "disqualified": null, "first_blocks": 0, "game": "epicycle(setup=random)", "opening": 1, "params": {"max_turns": 500, "repetition": 3, "setup": "random"}, "players": 2, "rules_version": 1}, {"blocks": 4, "bots": ["Last", "Noting", "Plain"], "counts": null, "disqualified": null, "first_blocks": 0, "game": "pyramid_punch", "opening": 1, "params": {"cap_ranking": "pyramids", "max_turns": 100}, "players": 3, "rules_version": 1}], "bots": [{"identity": "Plain@502568acf3554e5791c2d032a8ece9ee", "isolation": "none", "key": "Plain", "label": "Plain", "params": {}, "spec": "Plain", "trusted": false}, {"identity": "Noting@50c6ad47c93c2b817d07cb4f33a60cf7", "isolation": "none", "key": "Noting", "label": "Noting", "params": {}, "spec": "Noting", "trusted": false}, {"identity": "Last@401109a4b4caca558680697a4517ba51", "isolation": "none", "key": "Last", "label": "Last", "params": {}, "spec": "Last", "trusted": false}], "challenger": null, "common_dice": false, "dice": "secret", "dice_version": 2, "duel": null, "forfeit_limit": 2, "formats": ["csv", "json", "md", "parquet"], "left_out": [], "limits": {"increment": 0.0, "margin": 0.05, "memory": 1024, "seconds_per_match": 0.0, "seconds_per_move": 60.0, "seconds_to_prepare": 300.0, "seconds_to_start": 60.0}, "line_ups": "rotations", "max_tables": 10000, "name": "v5_secret", "public_bots_key": "2d5208e1837a8752f2ad543d102b2d73fa6c4f90254d5434330416f0809d9924", "public_dice_key": "94a69aa2144d249a1134554f216289cf70c0b687813a401caed46d5724499efc", "secret_keys": [{"hash": "eda5338f1051ccb46493b1dc0b14c5d9be4d2a1fd01b78a9bb8d6c406b78b4c0", "key": null}], "seed": 11}','{"python": "3.11.7", "platform": "Linux-6.18.44-fc-v657-x86_64-with-glibc2.36", "machine": "x86_64", "numpy": "2.4.6", "numba": "0.68.1", "llvmlite": "0.50.0", "scipy": "1.17.1", "pandas": "3.1.1", "ray": "2.60.0", "trueskill": "0.4.5", "pyramid-arena": "0.1.0"}','2026-11-22T19:24:36.843271+00:00',NULL,X'786B65D615104D54');
CREATE TABLE seats (
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    bot INTEGER NOT NULL REFERENCES bots,
    rank INTEGER NOT NULL,
    score INTEGER,
    cause TEXT,                  -- why the seat forfeited
    forfeit_ply INTEGER,         -- at which ply, -1 before play
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
INSERT INTO "seats" VALUES(1,0,0,3,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(1,0,1,2,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,0,0,3,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,0,1,1,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,1,0,1,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,1,1,3,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,0,0,2,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,0,1,1,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,1,0,1,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,1,1,2,1,NULL,NULL,NULL);
CREATE TABLE timings (           -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    run INTEGER NOT NULL,
    worker TEXT NOT NULL,
    seconds REAL NOT NULL,
    clocks TEXT NOT NULL,        -- of each call of a bot: seat,ply,wall,cpu in microseconds; ply -1: preparation
    retried INTEGER NOT NULL,    -- 1 if it was played once more, as a bot overran its time on a starved machine
    attempts INTEGER NOT NULL,   -- more than 1 if workers died or bots' processes were killed from outside
    digest BLOB NOT NULL,        -- of `matches.digest`, the row, and the match's rows in `faults`
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
INSERT INTO "timings" VALUES(1,0,1,'vm:32290',0.000462,'0,-1,42,44 1,-1,10,11 1,2,75,76 0,3,7,8 1,4,9,10',0,1,X'AB3FED6A04199EFB');
INSERT INTO "timings" VALUES(2,0,1,'vm:32290',0.000511,'0,-1,52,54 1,-1,15,16 1,2,41,42 1,4,6,7 0,5,6,7 1,6,5,6',0,1,X'9AF2003B5CF3372E');
INSERT INTO "timings" VALUES(2,1,1,'vm:32290',0.000376,'0,-1,26,27 1,-1,11,12 1,2,6,7 0,3,20,20 1,4,4,5 0,5,5,6 0,7,13,14 1,8,4,5 0,9,4,5 1,10,4,4 0,11,5,6 1,12,4,5 0,13,4,5 1,14,4,5 0,15,4,5',0,1,X'FD88E13693CB8E9F');
INSERT INTO "timings" VALUES(3,0,1,'vm:32290',0.000265,'0,-1,16,17 1,-1,9,10 1,2,15,16 1,4,5,6 0,5,32,33 1,6,5,5 0,7,7,8 1,8,4,5 0,9,6,7 1,10,4,5',0,1,X'97B3E6FA19BB4DAD');
INSERT INTO "timings" VALUES(3,1,1,'vm:32290',0.000161,'0,-1,13,14 1,-1,6,7 1,2,17,18 1,4,7,8',0,1,X'FED5615151C6C5E2');
CREATE TABLE waiting (           -- results that do not count yet: an earlier round decides
    identity BLOB NOT NULL,      -- of the block, which is in `blocks` only after one of its results is in `matches`
    lineup INTEGER NOT NULL,
    block TEXT NOT NULL,         -- row of the block as in digests of matches
    result TEXT NOT NULL,        -- JSON [match row, worker, attempts, run]
    digest BLOB NOT NULL,
    PRIMARY KEY (identity, lineup)
) WITHOUT ROWID;
INSERT INTO "waiting" VALUES(X'DB9C4E92E617B4F0532D1D72A1A34E42',0,'(b''\xdb\x9cN\x92\xe6\x17\xb4\xf0S-\x1dr\xa1\xa3NB'', b''Z\xf9\xaf\xe7\xddi\x04\\\x06\xfd\x00\xf1;\xe7\x06"'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''eda5338f1051ccb46493b1dc0b14c5d9be4d2a1fd01b78a9bb8d6c406b78b4c0'')','[[0,"normal",4,false,"472ee72dcd2258ca","LMSLLSMSM M- S+ L-",[],[[1,null,null,null],[0,null,null,null]],{},0.000142,"0,-1,11,12 1,-1,7,8 1,2,13,14 0,3,4,5",false],"vm:32290",1,1]',X'069E39D3D6E0D3E3');
INSERT INTO "waiting" VALUES(X'EFA81D5370BD0E5D35558FEAA3091076',0,'(b''\xef\xa8\x1dSp\xbd\x0e]5U\x8f\xea\xa3\t\x10v'', b''\x02\x8e\xe6\xa9f\x1e\xd0%\xf3\xf8{b\xf1?K\xe7'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''eda5338f1051ccb46493b1dc0b14c5d9be4d2a1fd01b78a9bb8d6c406b78b4c0'')','[[0,"normal",6,false,"a296f47a3dceb167","MLSLSSMML L- S+ M- L- M+",[[2,"11111050953406371224"],[4,"11111050953406371224"]],[[1,null,null,null],[0,null,null,null]],{},0.00028,"0,-1,24,25 1,-1,8,9 1,2,33,34 0,3,8,9 1,4,8,9 0,5,4,5",false],"vm:32290",1,1]',X'6AC5774010FE3536');
INSERT INTO "waiting" VALUES(X'EFA81D5370BD0E5D35558FEAA3091076',1,'(b''\xef\xa8\x1dSp\xbd\x0e]5U\x8f\xea\xa3\t\x10v'', b''\x02\x8e\xe6\xa9f\x1e\xd0%\xf3\xf8{b\xf1?K\xe7'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''eda5338f1051ccb46493b1dc0b14c5d9be4d2a1fd01b78a9bb8d6c406b78b4c0'')','[[1,"normal",25,false,"ba0eb390415ec8b8","SSMLMLMLS M- L- L- M+ S- L- L- M- M- M- L+ L+ S- M- L+ S- S- L- S- M- M- M- S- L-",[[3,"15937419188850639469"],[5,"15937419188850639469"],[7,"15937419188850639469"],[9,"15937419188850639469"],[11,"15937419188850639469"],[13,"15937419188850639469"],[15,"15937419188850639469"],[17,"15937419188850639469"],[19,"15937419188850639469"],[21,"15937419188850639469"],[23,"15937419188850639469"]],[[1,null,null,null],[0,null,null,null]],{},0.000467,"0,-1,18,19 1,-1,7,7 1,2,5,6 0,3,18,19 1,4,4,5 0,5,7,7 1,6,5,5 0,7,7,8 1,8,4,5 0,9,6,7 1,10,4,5 0,11,5,6 1,12,4,4 0,13,5,6 1,14,4,4 0,15,5,6 1,16,4,4 0,17,5,6 1,18,4,4 0,19,5,6 1,20,4,5 0,21,5,6 1,22,4,4 0,23,5,6 1,24,4,4",false],"vm:32290",1,1]',X'EDE150664EF18819');
CREATE INDEX forfeits ON seats (block, lineup, seat) WHERE cause IS NOT NULL;
PRAGMA user_version = 5;
COMMIT;
