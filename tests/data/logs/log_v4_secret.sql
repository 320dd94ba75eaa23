BEGIN TRANSACTION;
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    identity BLOB NOT NULL UNIQUE,
    id BLOB NOT NULL,            -- what openings are drawn from, and dice that a block's matches share
    board INTEGER NOT NULL REFERENCES boards,
    round INTEGER NOT NULL,
    opening INTEGER NOT NULL,    -- random plies
    seed INTEGER NOT NULL,
    dice INTEGER NOT NULL,       -- their kind: arena.match.dice.Kind
    key INTEGER REFERENCES keys  -- what they are drawn with; NULL for public ones
);
INSERT INTO "blocks" VALUES(1,X'452C32225C120C8E894A14A5035CB942',X'87AB3C5A50ED39E66A37BE447FF3534D',1,0,1,11,2,1);
INSERT INTO "blocks" VALUES(2,X'9303822AA9935780B6E6372E67EAE59E',X'4BC1385BFF3A61A3BF0C905B932FAC42',1,0,1,11,2,1);
INSERT INTO "blocks" VALUES(3,X'4E05F61A199AA8A3AA37111AF183883F',X'6C300C043040A85740F83215A5923129',1,0,1,11,2,1);
INSERT INTO "blocks" VALUES(4,X'420611EC0A09B37FB212C32F3A13B991',X'ABDA2DEA6EEA4DBB650076F08160C4E9',2,0,1,11,2,1);
INSERT INTO "blocks" VALUES(5,X'C72B2EF639E23B579E4A48004BCAE9E4',X'9E302224F31589EB4A76D1442C626A06',2,1,1,11,2,1);
CREATE TABLE boards (
    board INTEGER PRIMARY KEY,
    game TEXT NOT NULL,          -- canonical spec
    players INTEGER NOT NULL,
    UNIQUE (game, players)
);
INSERT INTO "boards" VALUES(1,'epicycle(setup=random)',2);
INSERT INTO "boards" VALUES(2,'pyramid_punch',3);
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
INSERT INTO "faults" VALUES(3,0,0,'-1 is not legal for seat 0; legal: S- L+ L-');
INSERT INTO "faults" VALUES(3,1,1,'-1 is not legal for seat 1; legal: S+ S- M+ M- L-');
INSERT INTO "faults" VALUES(4,0,1,'-1 is not legal for seat 1; legal: LMSO LMOS LSMO LSOM LOMS LOSM');
INSERT INTO "faults" VALUES(5,1,1,'-1 is not legal for seat 1; legal: LMSO LMOS LSMO LSOM LOMS LOSM');
CREATE TABLE keys (              -- of secret dice, in the order in which they were drawn
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    hash TEXT NOT NULL UNIQUE,   -- BLAKE2b-256 of it, hexadecimal
    drawn TEXT NOT NULL,         -- UTC
    disclosed TEXT,              -- UTC: when it was first written beside the leaderboards
    digest BLOB NOT NULL
);
INSERT INTO "keys" VALUES(1,X'17076D0A7B1F137EF0ADB7E5EBFB47310A88E379073C2CF02E3666B1D30F545A','dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356','2026-11-22T12:30:35.256444+00:00',NULL,X'1F538358FEA6DBB0');
CREATE TABLE matches (
    block INTEGER NOT NULL REFERENCES blocks,
    lineup INTEGER NOT NULL,
    ended TEXT NOT NULL,
    plies INTEGER NOT NULL,
    timed INTEGER NOT NULL,      -- 1 when a clock or the machine's memory had a say
    final BLOB NOT NULL,         -- hash of the final position
    course NOT NULL,             -- TEXT in notation, or a BLOB: zlib of it
    notes TEXT,                  -- what bots said of their moves: JSON [[ply, text], ...]
    digest BLOB NOT NULL,        -- over the row, its block and its seats: all that follows from the plan
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
INSERT INTO "matches" VALUES(1,0,'normal',4,0,X'46AB85B1C204B83E','LMMMSSLSL M- S+ L-','[[2, "4474973472713948429"]]',X'DA58796BADD1CB19');
INSERT INTO "matches" VALUES(2,0,'normal',14,0,X'C451A46106953621','LLLSSMMSM S+ S+ L- M+ L- L- M- S- L- L- M- M- M-',NULL,X'67428B9EA0334AF6');
INSERT INTO "matches" VALUES(2,1,'normal',4,0,X'A922FA099EBBCD30','MSMLMSSLL M- L- S-',NULL,X'9CE97EF6EF57901A');
INSERT INTO "matches" VALUES(3,0,'forfeit',3,0,X'5E4A8599575C7627','LSLSMSLMM M+ S-',NULL,X'E0EB97FE958CE069');
INSERT INTO "matches" VALUES(3,1,'forfeit',2,0,X'7722FAA98DA7513B','MLLSSLMMS L-',NULL,X'6B3C783992A44189');
INSERT INTO "matches" VALUES(4,0,'normal',51,0,X'D7A61D2C40D10A78','LMOS LOSM LMOS 2@* 0@2S/3 1@2N/1 Ox2O 1-1 Mx2S 2-4 1>2W Ox2S 1-4 Lx2L 6-4 2r3 Sx0O 4-1 Mx1L 6-2 1>0E Sx1S 4-1 2>0W 1r1 Sx0L 1-4 2r3 2>1E Mx2O 5-1 0r3 0r1 0>1N Mx0S 1-6 2>0E Sx2M 2-3 2r3 2r3 2r3 0r1 2r3 0>2S Lx2M 1-2 2r3 0r1 Lx2M 6-5',NULL,X'E75427B9E767243E');
INSERT INTO "matches" VALUES(4,1,'normal',46,0,X'C23AAFCF44CAB897','LMOS LSOM LOSM 2@* 1@2E/2 0@2W/3 Sx2M 2-4 Ox2L 4-2 1>0S Ox0L 4-3 1>2E Sx1S 4-3 1>2S 1>2N Lx2O 2-6 0>2S Mx0M 6-1 1>2W 2r2 Mx2S 6-4 2r2 Lx1M 4-5 0>2N Lx2L 3-3 1r2 2r3 Ox0L 1-2 2>0W Lx2M 3-6 1r2 Mx1M 1-4 2r3 Mx2L 2-5','[[3, "14523446045599761313"], [6, "14523446045599761313"], [10, "14523446045599761313"], [17, "14523446045599761313"], [24, "14523446045599761313"], [33, "14523446045599761313"]]',X'318B72160CF362C4');
INSERT INTO "matches" VALUES(4,2,'normal',40,0,X'B1F5192BA8B5C552','LMOS LOSM LMOS 2@* 1@2W/3 0@2N/3 Lx2L 2-2 Sx2M 5-3 1r3 Mx2L 1-1 Lx2S 3-2 2>0W Ox0L 1-4 0>1S Mx1O 3-2 Ox1L 1-5 0>1E Lx0L 5-4 2r3 Lx1S 2-1 2r3 0r2 2r3 2r3 2r1 2>1S Lx1L 6-1 0>2N Mx2L 4-2','[[2, "8674974114784349796"], [5, "8674974114784349796"], [18, "8674974114784349796"], [29, "8674974114784349796"], [32, "8674974114784349796"], [37, "8674974114784349796"]]',X'D42BF5569B23CEB0');
INSERT INTO "matches" VALUES(5,0,'normal',39,0,X'3AF8BB0738E5016B','LOMS LOMS LMOS 2@* 0@2S/2 1@2N/2 Sx2O 6-3 Mx2S 4-5 1>2W Lx2S 3-6 Sx2L 2-5 2r3 Lx0M 6-1 Sx0S 4-1 1>0S Ox1M 5-4 2>1W Ox2S 4-6 2r3 Sx1M 4-2 2>0E Lx2M 6-2 2>0S Sx0L 6-6 0r1 2>0W Lx0L 4-3','[[2, "4869551954937779002"], [5, "4869551954937779002"], [16, "4869551954937779002"], [20, "4869551954937779002"], [29, "4869551954937779002"], [35, "4869551954937779002"]]',X'A5674EB52239B542');
INSERT INTO "matches" VALUES(5,1,'normal',34,0,X'7596CAF2CDBACDAE','LOMS LMOS LOSM 0@* 1@0S/0 2@1W/3 Mx1M 4-5 Sx1L 6-2 2r3 Sx2L 3-4 2>1E Ox1O 2-4 Sx1M 3-2 2>1S 0>1E Ox2M 5-5 Mx0L 2-1 1r3 2>1W 1r3 Mx2L 1-1 2>0W Sx2L 3-5 Lx2M 2-4',NULL,X'ED247DFAE44BD90E');
INSERT INTO "matches" VALUES(5,2,'normal',43,0,X'DC7645B03511ADB9','LOMS LOSM LSMO 2@* 1@2W/3 0@1N/0 Sx1O 3-3 Mx1S 2-4 1>0E Mx2S 5-1 Lx2L 4-2 2>1E Ox1M 6-6 2r2 0>1S Sx2M 6-6 Mx0O 2-1 Lx0L 5-6 2>0S Mx0S 3-2 1r1 Lx1M 4-4 2r2 2r1 0r2 2r3 2r2 2r2 2r2 2r3 2r2 Mx0L 1-5','[[3, "2986021222375130764"], [6, "2986021222375130764"], [10, "2986021222375130764"], [19, "2986021222375130764"], [32, "2986021222375130764"], [34, "2986021222375130764"], [36, "2986021222375130764"], [38, "2986021222375130764"], [40, "2986021222375130764"]]',X'90A5A596DC63C7F4');
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    plan TEXT NOT NULL,          -- the resolved plan, JSON
    versions TEXT NOT NULL,      -- of Python and the packages that played, JSON
    started TEXT NOT NULL,       -- UTC
    finished TEXT,               -- UTC: when every match of the plan was in the log
    digest BLOB NOT NULL         -- over the row, as all columns of this name: arena.store.digests says how
);
INSERT INTO "runs" VALUES(1,'{"bench_after": 2, "boards": [{"blocks": 4, "bots": ["Last", "Noting", "Plain"], "game": "epicycle(setup=random)", "opening": 1, "params": {"max_turns": 500, "repetition": 3, "setup": "random"}, "players": 2, "rules_version": 1}, {"blocks": 4, "bots": ["Last", "Noting", "Plain"], "game": "pyramid_punch", "opening": 1, "params": {"cap_ranking": "pyramids", "max_turns": 100}, "players": 3, "rules_version": 1}], "bots": [{"identity": "Plain@502568acf3554e5791c2d032a8ece9ee", "isolation": "none", "key": "Plain", "label": "Plain", "params": {}, "spec": "Plain", "trusted": false}, {"identity": "Noting@50c6ad47c93c2b817d07cb4f33a60cf7", "isolation": "none", "key": "Noting", "label": "Noting", "params": {}, "spec": "Noting", "trusted": false}, {"identity": "Last@401109a4b4caca558680697a4517ba51", "isolation": "none", "key": "Last", "label": "Last", "params": {}, "spec": "Last", "trusted": false}], "common_dice": false, "dice": "secret", "formats": ["csv", "json", "md", "parquet"], "hero": null, "left_out": [], "limits": {"increment": 0.0, "margin": 0.05, "memory": 1024, "seconds_per_match": 0.0, "seconds_per_move": 60.0, "seconds_to_prepare": 300.0, "seconds_to_start": 60.0}, "line_ups": "rotations", "max_tables": 10000, "name": "secret", "public_bots_key": "2d5208e1837a8752f2ad543d102b2d73fa6c4f90254d5434330416f0809d9924", "public_dice_key": "94a69aa2144d249a1134554f216289cf70c0b687813a401caed46d5724499efc", "secret_keys": [{"hash": "dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356", "key": null}], "seed": 11}','{"python": "3.11.7", "platform": "Linux-6.18.44-fc-v657-x86_64-with-glibc2.36", "machine": "x86_64", "numpy": "2.4.6", "numba": "0.68.1", "llvmlite": "0.50.0", "scipy": "1.17.1", "pandas": "3.1.1", "ray": "2.60.0", "trueskill": "0.4.5", "pyramid-arena": "0.1.0"}','2026-11-22T12:30:35.282704+00:00',NULL,X'828F97DD577FD3B7');
CREATE TABLE seats (
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    bot INTEGER NOT NULL REFERENCES bots,
    rank INTEGER NOT NULL,
    score INTEGER,
    cause TEXT,                  -- why the seat forfeited
    fell INTEGER,                -- at which ply, -1 before play
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
INSERT INTO "seats" VALUES(1,0,0,3,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(1,0,1,2,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,0,0,3,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,0,1,1,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,1,0,1,1,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(2,1,1,3,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,0,0,2,1,NULL,'illegal_action',3);
INSERT INTO "seats" VALUES(3,0,1,1,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,1,0,1,0,NULL,NULL,NULL);
INSERT INTO "seats" VALUES(3,1,1,2,1,NULL,'illegal_action',2);
INSERT INTO "seats" VALUES(4,0,0,3,0,1,NULL,NULL);
INSERT INTO "seats" VALUES(4,0,1,2,2,0,'illegal_action',1);
INSERT INTO "seats" VALUES(4,0,2,1,1,0,NULL,NULL);
INSERT INTO "seats" VALUES(4,1,0,2,2,0,NULL,NULL);
INSERT INTO "seats" VALUES(4,1,1,1,1,0,NULL,NULL);
INSERT INTO "seats" VALUES(4,1,2,3,0,1,NULL,NULL);
INSERT INTO "seats" VALUES(4,2,0,1,0,2,NULL,NULL);
INSERT INTO "seats" VALUES(4,2,1,3,2,0,NULL,NULL);
INSERT INTO "seats" VALUES(4,2,2,2,1,0,NULL,NULL);
INSERT INTO "seats" VALUES(5,0,0,3,1,0,NULL,NULL);
INSERT INTO "seats" VALUES(5,0,1,1,2,0,NULL,NULL);
INSERT INTO "seats" VALUES(5,0,2,2,0,1,NULL,NULL);
INSERT INTO "seats" VALUES(5,1,0,1,1,0,NULL,NULL);
INSERT INTO "seats" VALUES(5,1,1,2,2,0,'illegal_action',1);
INSERT INTO "seats" VALUES(5,1,2,3,0,3,NULL,NULL);
INSERT INTO "seats" VALUES(5,2,0,2,0,1,NULL,NULL);
INSERT INTO "seats" VALUES(5,2,1,3,2,0,NULL,NULL);
INSERT INTO "seats" VALUES(5,2,2,1,1,0,NULL,NULL);
CREATE TABLE timings (           -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    run INTEGER NOT NULL,
    worker TEXT NOT NULL,
    seconds REAL NOT NULL,
    clocks TEXT NOT NULL,        -- what each call of a bot took: seat,ply,wall,cpu in microseconds; ply -1: preparing
    again INTEGER NOT NULL,      -- 1 when a bot overran its time on a starved machine, so that it was played once more
    attempts INTEGER NOT NULL,   -- 2 and more when workers died, or bots' processes were killed from outside
    digest BLOB NOT NULL,        -- over the row and the match's rows in `faults`
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
INSERT INTO "timings" VALUES(1,0,1,'vm:15634',0.000784,'0,-1,28,30 1,-1,9,10 1,2,53,54 0,3,6,7',0,1,X'73B62CDFBCCDF917');
INSERT INTO "timings" VALUES(2,0,1,'vm:15634',0.000659,'0,-1,20,22 1,-1,13,14 1,2,30,31 0,3,6,7 1,4,5,6 0,5,4,5 1,6,4,5 0,7,4,4 1,8,4,5 0,9,4,4 1,10,4,5 0,11,3,4 1,12,4,5 0,13,3,4',0,1,X'F5280FC97B0A89E3');
INSERT INTO "timings" VALUES(2,1,1,'vm:15634',0.000428,'0,-1,13,14 1,-1,10,11 1,2,7,8 0,3,18,19',0,1,X'2D3659B667A32751');
INSERT INTO "timings" VALUES(3,0,1,'vm:15634',0.000414,'0,-1,10,11 1,-1,6,7 1,2,17,18 0,3,13,13',0,1,X'666C87778EF9F29A');
INSERT INTO "timings" VALUES(3,1,1,'vm:15634',0.00035,'0,-1,8,9 1,-1,6,7 1,2,10,11',0,1,X'986D394B00B76218');
INSERT INTO "timings" VALUES(4,0,1,'vm:15634',0.000745,'0,-1,21,23 1,-1,8,9 2,-1,6,7 1,1,17,18 2,2,29,30 0,3,5,5 2,5,5,6 0,6,4,5 0,10,4,5 2,16,5,6 2,20,4,5 0,23,4,5 2,27,4,5 0,28,3,4 2,32,4,5 0,33,4,4 2,36,4,4 0,39,4,4 2,40,4,5 0,41,4,4 2,42,3,4 0,43,4,4 2,44,3,4 0,47,3,4 2,48,4,4',0,1,X'FE6E7E955828A5A2');
INSERT INTO "timings" VALUES(4,1,1,'vm:15634',0.000682,'0,-1,50,52 1,-1,8,9 2,-1,6,6 1,1,25,26 2,2,5,6 0,3,17,18 1,4,4,5 2,5,4,5 0,6,6,7 0,10,7,8 1,13,4,5 2,16,4,4 0,17,6,6 1,20,4,5 2,23,4,4 0,24,5,6 1,27,4,5 2,30,4,4 0,33,5,6 1,34,3,4 2,37,4,4 1,40,3,4 2,43,4,5',0,1,X'0B22D999113CDBC8');
INSERT INTO "timings" VALUES(4,2,1,'vm:15634',0.00051,'0,-1,10,11 1,-1,5,6 2,-1,5,6 1,1,5,6 2,2,45,46 0,3,10,11 1,4,3,4 2,5,6,7 0,6,4,5 0,10,4,5 1,11,3,4 1,15,3,4 2,18,6,7 0,19,4,4 0,23,4,4 1,26,4,4 2,29,5,6 0,30,4,4 1,31,3,4 2,32,5,6 0,33,4,5 1,34,3,4 2,37,5,6',0,1,X'FF61D8A994E52CAE');
INSERT INTO "timings" VALUES(5,0,1,'vm:15634',0.000432,'0,-1,9,10 1,-1,5,6 2,-1,5,5 1,1,12,13 2,2,12,13 0,3,4,5 1,4,4,5 2,5,5,6 0,6,4,4 0,10,4,4 1,11,4,5 1,15,4,5 2,16,5,6 2,20,6,7 0,23,4,4 1,26,4,5 2,29,5,6 0,32,3,4 2,35,5,6 0,36,3,4',0,1,X'E3D29CBE40520071');
INSERT INTO "timings" VALUES(5,1,1,'vm:15634',0.000483,'0,-1,12,13 1,-1,5,6 2,-1,4,5 1,1,8,9 2,2,4,5 0,3,14,15 2,5,4,5 0,6,4,5 0,10,5,5 2,14,4,5 2,18,4,5 0,19,4,5 2,25,4,5 0,26,4,5 2,29,4,4 0,30,4,5',0,1,X'90402300E97E3C58');
INSERT INTO "timings" VALUES(5,2,1,'vm:15634',0.000477,'0,-1,9,10 1,-1,5,6 2,-1,4,5 1,1,4,5 2,2,11,12 0,3,12,13 1,4,4,4 2,5,4,5 0,6,6,6 0,10,6,6 1,11,3,4 1,15,3,4 2,18,4,5 0,19,6,6 1,20,3,4 1,22,3,4 1,26,3,4 2,29,4,5 0,32,5,6 2,33,4,4 0,34,5,6 2,35,4,5 0,36,5,6 2,37,4,4 0,38,5,6 2,39,3,4 0,40,5,6',0,1,X'87DBDC2A0910A8F8');
CREATE TABLE waiting (           -- results that are in no board yet: an earlier round decides whether they stay
    identity BLOB NOT NULL,      -- of a block, which is not in `blocks` until one of its results is in `matches`
    lineup INTEGER NOT NULL,
    block TEXT NOT NULL,         -- the block as it goes into digests of matches: what the dice were drawn from
    result TEXT NOT NULL,        -- JSON [the match as its worker sent it, worker, attempts, run]
    digest BLOB NOT NULL,
    PRIMARY KEY (identity, lineup)
) WITHOUT ROWID;
INSERT INTO "waiting" VALUES(X'045FE55C38A6F87CB12A8CB0C996F50C',0,'(b''\x04_\xe5\\8\xa6\xf8|\xb1*\x8c\xb0\xc9\x96\xf5\x0c'', b''\xb5N9\x0e\xe9s9\x7feyx\x86\xc0\xb8\x04R'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"forfeit",3,false,"c438df03be686c3f","SSMSLLMLM M- M-",[],[[1,null,"illegal_action",3],[0,null,null,null]],{"0":"-1 is not legal for seat 0; legal: S+ S- L+ L-"},0.000442,"0,-1,15,17 1,-1,6,7 1,2,18,19 0,3,9,9",false],"vm:15634",1,1]',X'BC9B2B45F4863D44');
INSERT INTO "waiting" VALUES(X'045FE55C38A6F87CB12A8CB0C996F50C',1,'(b''\x04_\xe5\\8\xa6\xf8|\xb1*\x8c\xb0\xc9\x96\xf5\x0c'', b''\xb5N9\x0e\xe9s9\x7feyx\x86\xc0\xb8\x04R'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",8,false,"2ce1f40e34d4f270","LMSLMSMSL M- M- S+ S+ S+ L- M-",[[2,"6145236391360810641"],[4,"6145236391360810641"],[6,"6145236391360810641"]],[[1,null,null,null],[0,null,null,null]],{},0.00043,"0,-1,13,15 1,-1,6,7 1,2,21,22 0,3,11,12 1,4,6,7 0,5,4,5 1,6,5,6 0,7,4,5",false],"vm:15634",1,1]',X'666CC561F5B7C6BB');
INSERT INTO "waiting" VALUES(X'0B29238273D6C973AA6C74DDB6547EDF',0,'(b''\x0b)#\x82s\xd6\xc9s\xaalt\xdd\xb6T~\xdf'', b''\x02\x8e\xe6\xa9f\x1e\xd0%\xf3\xf8{b\xf1?K\xe7'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",12,false,"bc73fad3bdd07bfc","LMLMLSSMS S+ L+ L+ M- L- S+ M- L- M- L+ L+",[[2,"17479601808080940796"],[4,"17479601808080940796"],[6,"17479601808080940796"],[8,"17479601808080940796"],[10,"17479601808080940796"]],[[1,null,null,null],[0,null,null,null]],{},0.132804,"0,-1,17,18 1,-1,6,7 1,2,76,78 0,3,7,8 1,4,8,9 0,5,4,5 1,6,7,8 0,7,4,5 1,8,6,7 0,9,4,5 1,10,9,9 0,11,4,4",false],"vm:15634",1,1]',X'A677C150700831DF');
INSERT INTO "waiting" VALUES(X'0B29238273D6C973AA6C74DDB6547EDF',1,'(b''\x0b)#\x82s\xd6\xc9s\xaalt\xdd\xb6T~\xdf'', b''\x02\x8e\xe6\xa9f\x1e\xd0%\xf3\xf8{b\xf1?K\xe7'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",7,false,"59a72db4fc7faf55","MMMSLLSLS S+ L+ M+ M+ M+ L-",[[3,"6254640692201012199"]],[[0,null,null,null],[1,null,null,null]],{},0.006494,"0,-1,19,21 1,-1,6,7 1,2,24,26 0,3,43,44 1,4,5,6 1,6,4,5",false],"vm:15634",1,1]',X'B7309D542D9BA0E2');
INSERT INTO "waiting" VALUES(X'41F501E02969B44EF899A22C833368F4',0,'(b''A\xf5\x01\xe0)i\xb4N\xf8\x99\xa2,\x833h\xf4'', b''\xc4=\xf2\x83\xb2M(b=\xb1Ryb\x04\xc8J'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",6,false,"4ad3dcabd399658a","SMSLSMLLM L+ S- M- M- L-",[],[[1,null,null,null],[0,null,null,null]],{},0.000378,"0,-1,11,12 1,-1,6,6 1,2,16,17 0,3,4,5 1,4,4,5 0,5,4,5",false],"vm:15634",1,1]',X'EFE96508C2BF3BCE');
INSERT INTO "waiting" VALUES(X'41F501E02969B44EF899A22C833368F4',1,'(b''A\xf5\x01\xe0)i\xb4N\xf8\x99\xa2,\x833h\xf4'', b''\xc4=\xf2\x83\xb2M(b=\xb1Ryb\x04\xc8J'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",15,false,"6bf8ccf5f23ff208","LMSSLMSLM S- L- L- M- M- L+ S+ M+ M+ L- S+ M+ M+ L+",[],[[0,null,null,null],[1,null,null,null]],{},0.000479,"0,-1,15,16 1,-1,6,7 1,2,7,8 0,3,16,17 1,4,4,5 0,5,4,5 1,6,4,5 0,7,4,5 0,9,4,5 1,10,3,4 0,11,4,4 1,12,3,4 0,13,4,5 1,14,3,4",false],"vm:15634",1,1]',X'C2AC4F65DD79364E');
INSERT INTO "waiting" VALUES(X'5C70E37F80F74428ECB9ECBD049DC6F3',0,'(b''\\p\xe3\x7f\x80\xf7D(\xec\xb9\xec\xbd\x04\x9d\xc6\xf3'', b''\xea\xbe\xa4\xe6\xb6\xfde\x14\xf7w\xc8\xce\xc2\xc1\x8e\xc7'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",8,false,"19944064e5ba0629","LMMSSSLML L+ S- M- L+ L+ S+ M-",[[3,"8714676947827902468"],[5,"8714676947827902468"],[7,"8714676947827902468"]],[[1,null,null,null],[0,null,null,null]],{},0.000409,"0,-1,12,13 1,-1,5,6 1,2,15,16 0,3,15,16 0,5,6,7 1,6,4,5 0,7,5,6",false],"vm:15634",1,1]',X'7EA0E63B8B26FCA0');
INSERT INTO "waiting" VALUES(X'5C70E37F80F74428ECB9ECBD049DC6F3',1,'(b''\\p\xe3\x7f\x80\xf7D(\xec\xb9\xec\xbd\x04\x9d\xc6\xf3'', b''\xea\xbe\xa4\xe6\xb6\xfde\x14\xf7w\xc8\xce\xc2\xc1\x8e\xc7'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"forfeit",2,false,"1e6cebeb4b8fbc11","LMSLSSMML S-",[],[[0,null,null,null],[1,null,"illegal_action",2]],{"1":"-1 is not legal for seat 1; legal: S- M+ L+ L-"},0.000435,"0,-1,11,13 1,-1,6,7 1,2,10,11",false],"vm:15634",1,1]',X'CEDAAA6BFF2AF537');
INSERT INTO "waiting" VALUES(X'731A7D1793F828A03C0A5F43C51695A9',0,'(b''s\x1a}\x17\x93\xf8(\xa0<\n_C\xc5\x16\x95\xa9'', b''\x06p:$\xdb\x81\x0e\x84\x81\x9b\x7f*~\x18\x8au'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",10,false,"cdb9a027ca8af77b","LSMMSLLMS L+ M- M- L+ M- S- L+ S+ M+",[[2,"9622955176495216319"],[4,"9622955176495216319"],[6,"9622955176495216319"],[8,"9622955176495216319"]],[[1,null,null,null],[0,null,null,null]],{},0.000491,"0,-1,15,16 1,-1,6,7 1,2,22,24 0,3,5,6 1,4,6,7 0,5,4,5 1,6,6,6 0,7,4,5 1,8,5,6 0,9,3,4",false],"vm:15634",1,1]',X'006048BC306E5BBF');
INSERT INTO "waiting" VALUES(X'731A7D1793F828A03C0A5F43C51695A9',1,'(b''s\x1a}\x17\x93\xf8(\xa0<\n_C\xc5\x16\x95\xa9'', b''\x06p:$\xdb\x81\x0e\x84\x81\x9b\x7f*~\x18\x8au'', ''epicycle(setup=random)'', 2, 3, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"forfeit",3,false,"e831961c3b6983d5","SMMLMSLSL L+ L+",[],[[1,null,"illegal_action",3],[0,null,null,null]],{"0":"-1 is not legal for seat 0; legal: S+ S- M+ M-"},0.000493,"0,-1,16,17 1,-1,6,7 1,2,7,8 0,3,9,10",false],"vm:15634",1,1]',X'4EC73856E302EF64');
INSERT INTO "waiting" VALUES(X'7794CAD851F910871A24914B00D36415',0,'(b''w\x94\xca\xd8Q\xf9\x10\x87\x1a$\x91K\x00\xd3d\x15'', b''\xd6#\xc8Cu\t\r\x13\xf3\xcf0\xd1\xf5\xdeu\xa4'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",4,false,"e94c4ccb6eaa3b65","LSLMSSLMM S- M- L-",[],[[1,null,null,null],[0,null,null,null]],{},0.000417,"0,-1,15,17 1,-1,7,8 1,2,21,22 0,3,5,6",false],"vm:15634",1,1]',X'F350735DB5B8932D');
INSERT INTO "waiting" VALUES(X'7794CAD851F910871A24914B00D36415',1,'(b''w\x94\xca\xd8Q\xf9\x10\x87\x1a$\x91K\x00\xd3d\x15'', b''\xd6#\xc8Cu\t\r\x13\xf3\xcf0\xd1\xf5\xdeu\xa4'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",20,false,"a81caa65f43479c2","MMSMSLLSL L+ M+ M+ L- L- M- M- S- L+ L+ S+ S+ M+ L- S+ L- L- M- S-",[],[[1,null,null,null],[0,null,null,null]],{},0.000481,"0,-1,12,13 1,-1,6,7 1,2,6,7 0,3,16,17 1,4,4,5 0,5,4,5 1,6,4,4 0,7,4,5 0,9,4,5 1,10,4,4 0,11,4,5 0,13,4,4 1,14,3,4 1,16,3,4 0,17,4,4 1,18,3,4 0,19,4,4",false],"vm:15634",1,1]',X'AD1983387399C0BD');
INSERT INTO "waiting" VALUES(X'8AC668970D05A562CF5A483E223D00D2',0,'(b''\x8a\xc6h\x97\r\x05\xa5b\xcfZH>"=\x00\xd2'', b''Z\xf9\xaf\xe7\xddi\x04\\\x06\xfd\x00\xf1;\xe7\x06"'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",8,false,"471ad7755b243c4f","MMLSSLLMS S+ M+ L- S+ M- L+ M-",[],[[1,null,null,null],[0,null,null,null]],{},0.000485,"0,-1,17,19 1,-1,9,9 1,2,25,26 0,3,5,6 0,5,4,5 1,6,5,6 0,7,4,5",false],"vm:15634",1,1]',X'CCA05007EA0089C3');
INSERT INTO "waiting" VALUES(X'8AC668970D05A562CF5A483E223D00D2',1,'(b''\x8a\xc6h\x97\r\x05\xa5b\xcfZH>"=\x00\xd2'', b''Z\xf9\xaf\xe7\xddi\x04\\\x06\xfd\x00\xf1;\xe7\x06"'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",13,false,"a52a3c2f148d3ffe","SSMLLMLMS L+ L+ S- M- M- L- S- M+ L- M- S+ L-",[],[[0,null,null,null],[1,null,null,null]],{},0.001141,"0,-1,16,18 1,-1,6,7 1,2,8,10 0,3,17,17 1,4,4,5 0,5,4,5 1,6,4,4 0,7,4,5 0,9,4,5 1,10,3,4 0,11,4,5 1,12,3,4",false],"vm:15634",1,1]',X'1C10E2DF2ED3AA7F');
INSERT INTO "waiting" VALUES(X'A741C383497100A595BC738BAE898954',0,'(b''\xa7A\xc3\x83Iq\x00\xa5\x95\xbcs\x8b\xae\x89\x89T'', b''F\xbcVK\xfc\xa3\xa0\xe4\x8b\xdd\xb3\xa7\xa8Y\n\xd6'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"normal",18,false,"b0b5d905bf8204ad","MLSLSMMSL M- L- S- M- L+ S- L- S- M- L+ S- S- L- L- M- S+ M-",[[2,"2221410172429242452"],[6,"2221410172429242452"],[8,"2221410172429242452"],[10,"2221410172429242452"],[12,"2221410172429242452"],[14,"2221410172429242452"],[16,"2221410172429242452"]],[[1,null,null,null],[0,null,null,null]],{},0.000575,"0,-1,16,18 1,-1,7,7 1,2,25,26 0,3,5,6 0,5,4,5 1,6,7,8 0,7,4,4 1,8,6,6 0,9,4,4 1,10,5,6 0,11,3,4 1,12,5,6 0,13,3,4 1,14,5,6 0,15,3,4 1,16,5,6 0,17,4,4",false],"vm:15634",1,1]',X'743A69CE2FDC81F2');
INSERT INTO "waiting" VALUES(X'A741C383497100A595BC738BAE898954',1,'(b''\xa7A\xc3\x83Iq\x00\xa5\x95\xbcs\x8b\xae\x89\x89T'', b''F\xbcVK\xfc\xa3\xa0\xe4\x8b\xdd\xb3\xa7\xa8Y\n\xd6'', ''epicycle(setup=random)'', 2, 2, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",15,false,"807cdc3a5d2e5dde","MLMSMSLSL M+ L+ L+ M- S+ M- L+ L+ L+ M- S+ L- M- M-",[[5,"18000534472543907494"],[9,"18000534472543907494"],[11,"18000534472543907494"],[13,"18000534472543907494"]],[[0,null,null,null],[1,null,null,null]],{},0.000428,"0,-1,9,10 1,-1,5,6 1,2,5,6 1,4,4,5 0,5,15,16 1,6,4,5 1,8,3,4 0,9,6,7 1,10,3,4 0,11,5,6 1,12,3,4 0,13,5,6 1,14,3,4",false],"vm:15634",1,1]',X'98BE447311A0CDA1');
INSERT INTO "waiting" VALUES(X'FA7E016ADD283028481EC8A3847DEBE6',0,'(b''\xfa~\x01j\xdd(0(H\x1e\xc8\xa3\x84}\xeb\xe6'', b''\x1a\x1f\r\xc7=\x80\xd4\x8f\xb4Qnn\xa93\xd9\n'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[0,"forfeit",3,false,"38b6ecbcdd4fb544","SLMSSLMML L- S+",[],[[1,null,"illegal_action",3],[0,null,null,null]],{"0":"-1 is not legal for seat 0; legal: S+ M+ M-"},0.000393,"0,-1,10,11 1,-1,5,6 1,2,14,15 0,3,8,9",false],"vm:15634",1,1]',X'55572E4E5F8AFE1F');
INSERT INTO "waiting" VALUES(X'FA7E016ADD283028481EC8A3847DEBE6',1,'(b''\xfa~\x01j\xdd(0(H\x1e\xc8\xa3\x84}\xeb\xe6'', b''\x1a\x1f\r\xc7=\x80\xd4\x8f\xb4Qnn\xa93\xd9\n'', ''epicycle(setup=random)'', 2, 1, 1, 11, 2, ''dbe3f9501051a3116420b0a588b978455974cfb8497eb9c2aaee7527810fc356'')','[[1,"normal",11,false,"8a3cc773bb2f4779","LMLSSSLMM S- L+ L+ M+ M+ M+ L- S+ M+ M+",[[2,"17104466527407757481"],[4,"17104466527407757481"],[6,"17104466527407757481"],[8,"17104466527407757481"],[10,"17104466527407757481"]],[[0,null,null,null],[1,null,null,null]],{},0.00041,"0,-1,7,8 1,-1,5,6 1,2,16,17 0,3,10,11 1,4,7,7 0,5,5,6 1,6,6,7 0,7,4,5 1,8,5,6 1,10,6,7",false],"vm:15634",1,1]',X'96DBD7C81305AF62');
CREATE INDEX forfeits ON seats (block, lineup, seat) WHERE cause IS NOT NULL;
PRAGMA user_version = 4;
COMMIT;
