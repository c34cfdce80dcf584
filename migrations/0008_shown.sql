DROP INDEX `repositories_by_push`;--> statement-breakpoint
DROP INDEX `repositories_newest`;--> statement-breakpoint
ALTER TABLE `repositories` ADD `shown` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `repositories_shown_by_name` ON `repositories` (`did`,`name`,`rkey`) WHERE shown = 1;--> statement-breakpoint
CREATE INDEX `repositories_shown_by_push` ON `repositories` (`did`,`pushed_at`,`rkey`) WHERE shown = 1;--> statement-breakpoint
CREATE INDEX `repositories_shown_by_key` ON `repositories` (`did`,`rkey`) WHERE shown = 1;--> statement-breakpoint
CREATE INDEX `repositories_newest` ON `repositories` (`rkey`,`did`) WHERE shown = 1;--> statement-breakpoint
DROP INDEX `pushes_by_account`;--> statement-breakpoint
DROP INDEX `pushes_newest`;--> statement-breakpoint
ALTER TABLE `pushes` ADD `shown` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `pushes_shown_by_account` ON `pushes` (`did`,`pushed_at`,`rkey`) WHERE shown = 1;--> statement-breakpoint
CREATE INDEX `pushes_newest` ON `pushes` (`pushed_at`,`did`,`rkey`) WHERE shown = 1;--> statement-breakpoint
ALTER TABLE `accounts` ADD `shown` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `accounts_shown_by_handle` ON `accounts` (`handle`) WHERE shown = 1;