-- Full text over repositories. It has no copy of the texts: triggers keep it as the rows are.
-- Of the owner's handle only the first label: hosts give thousands of handles that end alike.
CREATE VIRTUAL TABLE repository_search USING fts5 (
  name, topics, owner, description,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3'
);
--> statement-breakpoint
CREATE INDEX repositories_named ON repositories (name COLLATE NOCASE, pushed_at);
--> statement-breakpoint
CREATE TRIGGER repositories_inserted AFTER INSERT ON repositories BEGIN
  INSERT OR IGNORE INTO accounts (did) VALUES (new.did);
  UPDATE accounts SET repositories = repositories + 1
    WHERE did = new.did AND NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.id <> new.id);
  UPDATE repositories SET
    pushed_at = (SELECT coalesce(max(p.pushed_at), 0) FROM pushes p WHERE p.did = new.did AND p.repo = new.rkey),
    size = (SELECT coalesce(sum(k.size), 0) FROM packs k WHERE k.did = new.did AND k.repo = new.rkey)
    WHERE id = new.id;
  INSERT INTO repository_search (rowid, name, topics, owner, description)
  SELECT r.id, r.words, coalesce(json_extract(r.record, '$.topics'), ''),
    coalesce((SELECT substr(a.handle, 1, instr(a.handle || '.', '.') - 1) FROM accounts a WHERE a.did = r.did), ''),
    coalesce(json_extract(r.record, '$.description'), '')
  FROM repositories r WHERE r.id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER repositories_deleted AFTER DELETE ON repositories BEGIN
  UPDATE accounts SET repositories = repositories - 1
    WHERE did = old.did AND NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = old.did AND o.name = old.name AND o.id <> old.id);
  DELETE FROM repository_search WHERE rowid = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER repositories_renamed AFTER UPDATE OF name ON repositories WHEN new.name <> old.name BEGIN
  UPDATE accounts SET repositories = repositories
    + (NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.id <> new.id))
    - (NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = old.name AND o.id <> new.id))
    WHERE did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER repositories_described AFTER UPDATE OF words, record ON repositories
WHEN new.words <> old.words OR new.record <> old.record BEGIN
  DELETE FROM repository_search WHERE rowid = old.id;
  INSERT INTO repository_search (rowid, name, topics, owner, description)
  SELECT r.id, r.words, coalesce(json_extract(r.record, '$.topics'), ''),
    coalesce((SELECT substr(a.handle, 1, instr(a.handle || '.', '.') - 1) FROM accounts a WHERE a.did = r.did), ''),
    coalesce(json_extract(r.record, '$.description'), '')
  FROM repositories r WHERE r.id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER accounts_renamed AFTER UPDATE OF handle ON accounts WHEN new.handle IS NOT old.handle BEGIN
  DELETE FROM repository_search WHERE rowid IN (SELECT id FROM repositories WHERE did = new.did);
  INSERT INTO repository_search (rowid, name, topics, owner, description)
  SELECT r.id, r.words, coalesce(json_extract(r.record, '$.topics'), ''),
    coalesce((SELECT substr(a.handle, 1, instr(a.handle || '.', '.') - 1) FROM accounts a WHERE a.did = r.did), ''),
    coalesce(json_extract(r.record, '$.description'), '')
  FROM repositories r WHERE r.did = new.did;
  INSERT OR REPLACE INTO former_handles (handle, did, until)
    SELECT old.handle, old.did, new.resolved_at WHERE old.handle IS NOT NULL;
  DELETE FROM former_handles WHERE handle = new.handle AND did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER packs_inserted AFTER INSERT ON packs BEGIN
  UPDATE repositories SET size = size + new.size WHERE did = new.did AND rkey = new.repo;
  UPDATE accounts SET size = size + new.size WHERE did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER packs_deleted AFTER DELETE ON packs BEGIN
  UPDATE repositories SET size = size - old.size WHERE did = old.did AND rkey = old.repo;
  UPDATE accounts SET size = size - old.size WHERE did = old.did;
END;
--> statement-breakpoint
CREATE TRIGGER packs_resized AFTER UPDATE OF size ON packs WHEN new.size <> old.size BEGIN
  UPDATE repositories SET size = size + new.size - old.size WHERE did = new.did AND rkey = new.repo;
  UPDATE accounts SET size = size + new.size - old.size WHERE did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER pushes_inserted AFTER INSERT ON pushes BEGIN
  UPDATE repositories SET pushed_at = new.pushed_at
    WHERE did = new.did AND rkey = new.repo AND pushed_at < new.pushed_at;
END;
--> statement-breakpoint
CREATE TRIGGER pushes_deleted AFTER DELETE ON pushes WHEN old.pushed_at IS NOT NULL BEGIN
  UPDATE repositories SET pushed_at = (
      SELECT coalesce(max(p.pushed_at), 0) FROM pushes p WHERE p.did = old.did AND p.repo = old.repo)
    WHERE did = old.did AND rkey = old.repo AND pushed_at = old.pushed_at;
END;
--> statement-breakpoint
CREATE TRIGGER pushes_changed AFTER UPDATE OF pushed_at ON pushes WHEN new.pushed_at IS NOT old.pushed_at BEGIN
  UPDATE repositories SET pushed_at = (
      SELECT coalesce(max(p.pushed_at), 0) FROM pushes p WHERE p.did = old.did AND p.repo = old.repo)
    WHERE did = old.did AND rkey = old.repo;
END;
