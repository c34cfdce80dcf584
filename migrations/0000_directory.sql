CREATE TABLE `identities` (
	`actor` text PRIMARY KEY NOT NULL,
	`did` text NOT NULL,
	`handle` text,
	`pds` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `listings` (
	`did` text PRIMARY KEY NOT NULL,
	`listed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `repositories` (
	`did` text NOT NULL,
	`rkey` text NOT NULL,
	`name` text NOT NULL,
	`record` text NOT NULL,
	PRIMARY KEY(`did`, `rkey`)
);
--> statement-breakpoint
CREATE INDEX `repositories_by_name` ON `repositories` (`did`,`name`);