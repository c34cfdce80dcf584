CREATE TABLE `listing_pauses` (
	`did` text PRIMARY KEY NOT NULL,
	`level` real NOT NULL,
	`listed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `listing_pauses_by_time` ON `listing_pauses` (`listed_at`);--> statement-breakpoint
ALTER TABLE `account_wants` ADD `host` text;--> statement-breakpoint
ALTER TABLE `account_wants` ADD `at_work_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `account_wants_by_host` ON `account_wants` (`host`,`due_at`);--> statement-breakpoint
CREATE INDEX `account_wants_at_work` ON `account_wants` (`host`,`at_work_until`);