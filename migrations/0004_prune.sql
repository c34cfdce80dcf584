CREATE INDEX `identities_by_end` ON `identities` (`expires_at`);--> statement-breakpoint
CREATE INDEX `landings_by_time` ON `landings` (`landed_at`);