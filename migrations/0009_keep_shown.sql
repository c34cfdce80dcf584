-- What is shown: kept as a column, so that no list passes over what is not, and the full-text indexes have nothing else.
-- Starts of words of up to six letters are looked up as words are; for longer ones the words that begin so are read together.
CREATE VIEW repository_visibility AS
  SELECT r.id AS id, a.shown
    AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.subject = 'at://' || r.did || '/dev.skein.repo/' || r.rkey)
    AND NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = r.did AND o.name = r.name AND o.rkey < r.rkey) AS shown
  FROM repositories r CROSS JOIN accounts a WHERE a.did = r.did;
--> statement-breakpoint
DROP TRIGGER repositories_inserted;
--> statement-breakpoint
DROP TRIGGER repositories_deleted;
--> statement-breakpoint
DROP TRIGGER repositories_renamed;
--> statement-breakpoint
DROP TRIGGER repositories_described;
--> statement-breakpoint
DROP TRIGGER accounts_renamed;
--> statement-breakpoint
DROP TABLE repository_search;
--> statement-breakpoint
CREATE VIRTUAL TABLE repository_search USING fts5 (
  name, topics, owner, description,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3 4 5 6'
);
--> statement-breakpoint
CREATE VIRTUAL TABLE repository_names USING fts5 (
  name, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', detail = none, prefix = '1 2 3 4 5 6'
);
--> statement-breakpoint
CREATE VIEW repository_texts AS
  SELECT r.id AS id, r.did AS did, r.words AS name, coalesce(json_extract(r.record, '$.topics'), '') AS topics,
    coalesce((SELECT substr(a.handle, 1, instr(a.handle || '.', '.') - 1) FROM accounts a WHERE a.did = r.did), '') AS owner,
    coalesce(json_extract(r.record, '$.description'), '') AS description
  FROM repositories r WHERE r.shown = 1;
--> statement-breakpoint
DROP INDEX repositories_named;
--> statement-breakpoint
CREATE INDEX repositories_named ON repositories (name COLLATE NOCASE, pushed_at) WHERE shown = 1;
--> statement-breakpoint
UPDATE accounts SET shown = (status = 'active' AND NOT EXISTS (SELECT 1 FROM blocks WHERE subject = accounts.did));
--> statement-breakpoint
UPDATE repositories SET shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id);
--> statement-breakpoint
UPDATE pushes SET shown = EXISTS (
  SELECT 1 FROM repositories r WHERE r.did = pushes.did AND r.rkey = pushes.repo AND r.shown = 1);
--> statement-breakpoint
INSERT INTO repository_search (rowid, name, topics, owner, description)
  SELECT id, name, topics, owner, description FROM repository_texts;
--> statement-breakpoint
INSERT INTO repository_names (rowid, name) SELECT id, name FROM repository_texts;
--> statement-breakpoint
CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts
WHEN new.status <> 'active' OR EXISTS (SELECT 1 FROM blocks WHERE subject = new.did) BEGIN
  UPDATE accounts SET shown = 0 WHERE did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER accounts_changed AFTER UPDATE OF status ON accounts WHEN new.status <> old.status BEGIN
  UPDATE accounts SET shown = (status = 'active' AND NOT EXISTS (SELECT 1 FROM blocks WHERE subject = new.did))
    WHERE did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER accounts_shown AFTER UPDATE OF shown ON accounts WHEN new.shown <> old.shown BEGIN
  UPDATE repositories SET shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id)
    WHERE did = new.did AND shown <> (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id);
END;
--> statement-breakpoint
CREATE TRIGGER blocks_inserted AFTER INSERT ON blocks BEGIN
  UPDATE accounts SET shown = 0 WHERE did = new.subject;
  UPDATE repositories SET shown = 0 WHERE did = substr(new.subject, 6, instr(substr(new.subject, 6), '/') - 1)
    AND rkey = substr(new.subject, instr(new.subject, '/dev.skein.repo/') + 16);
END;
--> statement-breakpoint
CREATE TRIGGER blocks_deleted AFTER DELETE ON blocks BEGIN
  UPDATE accounts SET shown = (status = 'active') WHERE did = old.subject;
  UPDATE repositories SET shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id)
    WHERE did = substr(old.subject, 6, instr(substr(old.subject, 6), '/') - 1)
      AND rkey = substr(old.subject, instr(old.subject, '/dev.skein.repo/') + 16);
END;
--> statement-breakpoint
CREATE TRIGGER repositories_shown AFTER UPDATE OF shown ON repositories WHEN new.shown <> old.shown BEGIN
  UPDATE pushes SET shown = new.shown WHERE did = new.did AND repo = new.rkey;
  DELETE FROM repository_search WHERE rowid = new.id;
  INSERT INTO repository_search (rowid, name, topics, owner, description)
    SELECT id, name, topics, owner, description FROM repository_texts WHERE id = new.id;
  DELETE FROM repository_names WHERE rowid = new.id;
  INSERT INTO repository_names (rowid, name) SELECT id, name FROM repository_texts WHERE id = new.id;
END;
--> statement-breakpoint
-- Of one name only the oldest is shown: with a row, that of the next one may change. Never more, however many have it.
CREATE TRIGGER repositories_inserted AFTER INSERT ON repositories BEGIN
  INSERT OR IGNORE INTO accounts (did) VALUES (new.did);
  UPDATE accounts SET repositories = repositories + 1
    WHERE did = new.did AND NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.id <> new.id);
  UPDATE repositories SET
    pushed_at = (SELECT coalesce(max(p.pushed_at), 0) FROM pushes p WHERE p.did = new.did AND p.repo = new.rkey),
    size = (SELECT coalesce(sum(k.size), 0) FROM packs k WHERE k.did = new.did AND k.repo = new.rkey),
    shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = new.id)
    WHERE id = new.id;
  UPDATE repositories SET shown = 0 WHERE shown = 1 AND id = (
    SELECT o.id FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.rkey > new.rkey ORDER BY o.rkey LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER repositories_deleted AFTER DELETE ON repositories BEGIN
  UPDATE accounts SET repositories = repositories - 1
    WHERE did = old.did AND NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = old.did AND o.name = old.name AND o.id <> old.id);
  UPDATE pushes SET shown = 0 WHERE did = old.did AND repo = old.rkey AND shown = 1;
  DELETE FROM repository_search WHERE rowid = old.id;
  DELETE FROM repository_names WHERE rowid = old.id;
  UPDATE repositories SET shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id)
    WHERE shown = 0 AND id = (
      SELECT o.id FROM repositories o WHERE o.did = old.did AND o.name = old.name ORDER BY o.rkey LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER repositories_renamed AFTER UPDATE OF name ON repositories WHEN new.name <> old.name BEGIN
  UPDATE accounts SET repositories = repositories
    + (NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.id <> new.id))
    - (NOT EXISTS (SELECT 1 FROM repositories o WHERE o.did = new.did AND o.name = old.name AND o.id <> new.id))
    WHERE did = new.did;
  UPDATE repositories SET shown = (SELECT v.shown FROM repository_visibility v WHERE v.id = repositories.id)
    WHERE id IN (
      new.id,
      (SELECT o.id FROM repositories o WHERE o.did = new.did AND o.name = new.name AND o.rkey > new.rkey ORDER BY o.rkey LIMIT 1),
      (SELECT o.id FROM repositories o WHERE o.did = new.did AND o.name = old.name ORDER BY o.rkey LIMIT 1));
END;
--> statement-breakpoint
CREATE TRIGGER repositories_described AFTER UPDATE OF words, record ON repositories
WHEN new.words <> old.words OR new.record <> old.record BEGIN
  DELETE FROM repository_search WHERE rowid = old.id;
  INSERT INTO repository_search (rowid, name, topics, owner, description)
    SELECT id, name, topics, owner, description FROM repository_texts WHERE id = new.id;
  DELETE FROM repository_names WHERE rowid = old.id;
  INSERT INTO repository_names (rowid, name) SELECT id, name FROM repository_texts WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER accounts_renamed AFTER UPDATE OF handle ON accounts WHEN new.handle IS NOT old.handle BEGIN
  DELETE FROM repository_search WHERE rowid IN (SELECT id FROM repositories WHERE did = new.did AND shown = 1);
  INSERT INTO repository_search (rowid, name, topics, owner, description)
    SELECT id, name, topics, owner, description FROM repository_texts WHERE did = new.did;
  INSERT OR REPLACE INTO former_handles (handle, did, until)
    SELECT old.handle, old.did, new.resolved_at WHERE old.handle IS NOT NULL;
  DELETE FROM former_handles WHERE handle = new.handle AND did = new.did;
END;
--> statement-breakpoint
CREATE TRIGGER pushes_hidden AFTER INSERT ON pushes
WHEN NOT EXISTS (SELECT 1 FROM repositories r WHERE r.did = new.did AND r.rkey = new.repo AND r.shown = 1) BEGIN
  UPDATE pushes SET shown = 0 WHERE did = new.did AND rkey = new.rkey;
END;
