CREATE TABLE `mirror_totals` (
	`id` integer PRIMARY KEY NOT NULL,
	`mirrors` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO mirror_totals SELECT 0, count(*) FILTER (WHERE bytes > 0), coalesce(sum(bytes), 0) FROM mirrors;
--> statement-breakpoint
CREATE TRIGGER mirrors_added AFTER INSERT ON mirrors BEGIN
  UPDATE mirror_totals SET mirrors = mirrors + (new.bytes > 0), bytes = bytes + new.bytes WHERE id = 0;
END;
--> statement-breakpoint
CREATE TRIGGER mirrors_changed AFTER UPDATE OF bytes ON mirrors BEGIN
  UPDATE mirror_totals SET mirrors = mirrors + (new.bytes > 0) - (old.bytes > 0),
    bytes = bytes + new.bytes - old.bytes WHERE id = 0;
END;
--> statement-breakpoint
CREATE TRIGGER mirrors_removed AFTER DELETE ON mirrors BEGIN
  UPDATE mirror_totals SET mirrors = mirrors - (old.bytes > 0), bytes = bytes - old.bytes WHERE id = 0;
END;
