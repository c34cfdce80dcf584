import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./storage/directory/tables.ts', './storage/access/tables.ts', './storage/operator/tables.ts'],
  out: './migrations',
})
