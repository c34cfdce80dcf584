import { expect, test } from 'vitest'
import { languageOfFence } from '../../../../workers/web/render/find-language.ts'
import { GRAMMARS } from '../../../../workers/web/render/grammars.ts'
import { highlightLines, languageOf } from '../../../../workers/web/render/highlight.ts'
import { LANGUAGES } from '../../../../workers/web/render/language-table.ts'
import { textOf } from '../../../../workers/web/render/word-marks.ts'

test.each([
  ['src/main.rs', '', 'rust'],
  ['a/Dockerfile', '', 'dockerfile'],
  ['Dockerfile.dev', '', 'dockerfile'],
  ['Makefile.in', '', 'makefile'],
  ['CMakeLists.txt', '', 'cmake'],
  ['x.H', '', 'c'],
  ['.bashrc', '', 'bash'],
  ['bin/tool', '#!/usr/bin/env -S node --flag', 'javascript'],
  ['bin/tool', '#!/usr/bin/python3.12', 'python'],
  ['bin/tool', '#! /bin/sh -e', 'bash'],
  ['build.zig', '', 'zig'],
  ['notes', '', null],
  ['a.unknown', '#!', null],
  ['constructor', '', null],
  ['x.__proto__', '#!/bin/toString', null],
])('the language of %s %s', (path, firstLine, language) => {
  expect(languageOf(path, firstLine)).toBe(language)
})

test.each([
  ['js', 'javascript'],
  ['C++', 'cpp'],
  ['{.python}', 'python'],
  ['rust,ignore', 'rust'],
  ['sh-session', 'shell'],
  ['', undefined],
  ['constructor', undefined],
])('the language of a fence: %s', (info, language) => {
  expect(languageOfFence(info)?.id).toBe(language)
})

test('every language of the table has its grammar, and every grammar a language; ids are their own', () => {
  const named = new Set(LANGUAGES.flatMap(({ grammar }) => grammar ?? []))
  expect([...named].sort()).toEqual(Object.keys(GRAMMARS).sort())
  expect(new Set(LANGUAGES.map(({ id }) => id)).size).toBe(LANGUAGES.length)
  expect(LANGUAGES.filter(({ id, color }) => !/^[a-z0-9-]+$/.test(id) || !/^#[0-9a-f]{6}$/.test(color))).toEqual([])
  expect(named.size).toBeGreaterThanOrEqual(40)
})

test('what spans lines is closed in each', () => {
  expect(highlightLines('/* a\n<b> */ x\r\n', 'javascript')).toEqual({
    lines: ['<span class="hljs-comment">/* a</span>', '<span class="hljs-comment">&lt;b&gt; */</span> x'],
    language: 'javascript',
    plainBecause: null,
  })
})

test('a grammar goes on where a piece ends: a comment of a thousand lines is one', () => {
  const text = `/*\n${'word word\n'.repeat(1000)}*/ let x = 1\n`
  const { lines } = highlightLines(text, 'javascript')
  expect(lines).toHaveLength(1002)
  expect(new Set(lines.slice(1, 1001))).toEqual(new Set(['<span class="hljs-comment">word word</span>']))
  expect(lines.at(-1)).toContain('<span class="hljs-keyword">let</span>')
})

test.each([
  ['characters', 'x = 1\n'.repeat(50_000)],
  ['lines', 'x\n'.repeat(10_001)],
  ['characters', `x = "${'y'.repeat(500_000)}"\n`],
  ['lines of more than', `x = 1\ny = "${'y'.repeat(1000)}"\n`],
])('beyond a limit a text is plain, and that is said: %s', (said, text) => {
  const { lines, language, plainBecause } = highlightLines(text, 'javascript')
  expect(language).toBeNull()
  expect(plainBecause).toContain(said)
  expect(lines.join('\n')).not.toContain('<')
})

test('a text without lines, without a language, of a language without a grammar', () => {
  expect(highlightLines('', 'javascript').lines).toEqual([])
  expect(highlightLines('a\n\nb', null).lines).toEqual(['a', '', 'b'])
  expect(highlightLines('a\n', 'zig')).toEqual({ lines: ['a'], language: null, plainBecause: null })
})

test('what is open over many lines would be longer than the text by far, and is plain', () => {
  const { lines, plainBecause } = highlightLines(`${'`${'.repeat(300)}\n${'x\n'.repeat(3000)}`, 'javascript')
  expect(plainBecause).toBe('it is nested too deeply')
  expect(lines).toHaveLength(3001)
})

test('no grammar sees more than a piece at once, so that time grows with the text', () => {
  const text = `${'a'.repeat(900)}\n`.repeat(40)
  highlightLines('a', 'c')
  const seen = new Map<string, number>()
  const { exec } = RegExp.prototype
  RegExp.prototype.exec = function (input: string) {
    seen.set(this.source, Math.max(input.length, seen.get(this.source) ?? 0))
    return exec.call(this, input)
  }
  try {
    highlightLines(text, 'c')
  } finally {
    RegExp.prototype.exec = exec
  }
  // Those of our own, each of which looks at each character once; the first two take the text to pieces.
  const ours = ['[^\\0]+', '\\B|\\b', '\\p{Cc}', '<[^>]*>', '<span', `[&<>"']`]
  const grammars = [...seen].filter(([source]) => !ours.some((part) => source.includes(part)))
  expect(grammars.length).toBeGreaterThan(5)
  expect(grammars.filter(([, length]) => length > 2048)).toEqual([])
})

/** Sources that grammars are known to have had trouble with, and others that they read wrongly on purpose. */
const ODD = [
  '"',
  "'",
  '`',
  '/*',
  '<!--',
  '<<EOF\n',
  '${'.repeat(9),
  '"""',
  '\\',
  '(((((',
  '{% raw',
  '<?php',
  '=begin',
  '\t',
  '\0',
  'é\ud800',
  '\u2028',
  '$$$',
  '@@',
  '---',
]

test.each(LANGUAGES.map(({ id }) => [id]))('%s shows the text that it was given', (language) => {
  const text = ODD.flatMap((odd) => [odd, `a ${odd}${odd} b`, `${odd}\n\n${odd} x`]).join('\n')
  const plain = highlightLines(text, null).lines.map(textOf)
  expect(highlightLines(text, language).lines.map(textOf)).toEqual(plain)
})

test('the same text gives the same again, and each language its own', () => {
  const text = 'const a = 1 // one\n'
  const first = highlightLines(text, 'javascript')
  expect(highlightLines(text, 'javascript')).toEqual(first)
  expect(highlightLines(text, 'python').lines).not.toEqual(first.lines)
})
