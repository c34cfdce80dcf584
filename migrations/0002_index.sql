CREATE TABLE `account_revs` (
	`did` text PRIMARY KEY NOT NULL,
	`rev` text NOT NULL,
	`listed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `account_wants` (
	`did` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`wanted_at` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `account_wants_by_due` ON `account_wants` (`due_at`,`did`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`did` text PRIMARY KEY NOT NULL,
	`handle` text,
	`pds` text,
	`status` text DEFAULT 'active' NOT NULL,
	`status_at` integer DEFAULT 0 NOT NULL,
	`resolved_at` integer DEFAULT 0 NOT NULL,
	`repositories` integer DEFAULT 0 NOT NULL,
	`size` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `accounts_by_handle` ON `accounts` (`handle`);--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`payload` text NOT NULL,
	`error` text NOT NULL,
	`died_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `dead_letters_by_time` ON `dead_letters` (`died_at`);--> statement-breakpoint
CREATE TABLE `dropped_records` (
	`collection` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	`uri` text NOT NULL,
	`dropped_at` integer NOT NULL,
	PRIMARY KEY(`collection`, `reason`)
);
--> statement-breakpoint
CREATE TABLE `former_handles` (
	`handle` text NOT NULL,
	`did` text NOT NULL,
	`until` integer NOT NULL,
	PRIMARY KEY(`handle`, `did`)
);
--> statement-breakpoint
CREATE INDEX `former_handles_by_account` ON `former_handles` (`did`);--> statement-breakpoint
CREATE INDEX `former_handles_newest` ON `former_handles` (`handle`,`until`);--> statement-breakpoint
CREATE TABLE `packs` (
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`repo` text NOT NULL,
	`size` integer NOT NULL,
	PRIMARY KEY(`did`, `rkey`)
);
--> statement-breakpoint
CREATE INDEX `packs_by_repository` ON `packs` (`did`,`repo`,`size`);--> statement-breakpoint
CREATE TABLE `pushes` (
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`repo` text NOT NULL,
	`ref` text,
	`refs` integer NOT NULL,
	`target` text,
	`seq` integer NOT NULL,
	`pushed_at` integer,
	PRIMARY KEY(`did`, `rkey`)
);
--> statement-breakpoint
CREATE INDEX `pushes_newest` ON `pushes` (`pushed_at`,`did`,`rkey`);--> statement-breakpoint
CREATE INDEX `pushes_by_account` ON `pushes` (`did`,`pushed_at`,`rkey`);--> statement-breakpoint
CREATE INDEX `pushes_by_repository` ON `pushes` (`did`,`repo`,`pushed_at`);--> statement-breakpoint
CREATE TABLE `reconciles` (
	`source` text PRIMARY KEY NOT NULL,
	`cursor` text,
	`accounts` integer DEFAULT 0 NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE TABLE `record_revs` (
	`did` text NOT NULL,
	`collection` text NOT NULL,
	`rkey` text NOT NULL,
	`rev` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`did`, `collection`, `rkey`)
);
--> statement-breakpoint
CREATE INDEX `record_revs_by_time` ON `record_revs` (`seen_at`);--> statement-breakpoint
-- Nothing is copied: whoever asks for an account whose listing is gone has it listed.
DROP TABLE `repositories`;--> statement-breakpoint
DELETE FROM `listings`;--> statement-breakpoint
CREATE TABLE `repositories` (
	`id` integer PRIMARY KEY NOT NULL,
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`name` text NOT NULL,
	`words` text NOT NULL,
	`record` text NOT NULL,
	`pushed_at` integer DEFAULT 0 NOT NULL,
	`size` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_by_key` ON `repositories` (`did`,`rkey`);--> statement-breakpoint
CREATE INDEX `repositories_by_name` ON `repositories` (`did`,`name`,`rkey`);--> statement-breakpoint
CREATE INDEX `repositories_by_push` ON `repositories` (`did`,`pushed_at`,`rkey`);--> statement-breakpoint
CREATE INDEX `repositories_newest` ON `repositories` (`rkey`,`did`);