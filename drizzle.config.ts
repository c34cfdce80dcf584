import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['directory', 'access', 'index', 'operator'].map((name) => `./storage/${name}/tables.ts`),
  out: './migrations',
})
