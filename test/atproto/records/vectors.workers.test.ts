import './vectors.test.ts'
