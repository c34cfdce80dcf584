CREATE TABLE `landings` (
	`ticket` text PRIMARY KEY NOT NULL,
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`ref` text NOT NULL,
	`landing` text NOT NULL,
	`commit` text,
	`kind` text NOT NULL,
	`submitter` text NOT NULL,
	`token` text,
	`label` text,
	`landed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `landings_by_repository` ON `landings` (`did`,`rkey`,`landed_at`);--> statement-breakpoint
CREATE TABLE `tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`did` text NOT NULL,
	`label` text NOT NULL,
	`repositories` text,
	`branches` text,
	`rights` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_by_hash` ON `tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `tokens_by_owner` ON `tokens` (`did`,`id`);--> statement-breakpoint
CREATE TABLE `used_jwts` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_jwts_by_end` ON `used_jwts` (`expires_at`);