CREATE TABLE `blocks` (
	`subject` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mirrors` (
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`bytes` integer NOT NULL,
	`used_at` integer NOT NULL,
	PRIMARY KEY(`did`, `rkey`)
);
--> statement-breakpoint
CREATE INDEX `mirrors_by_use` ON `mirrors` (`used_at`);