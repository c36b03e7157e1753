import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from './program.ts'

const ROOT = new URL('../../../', import.meta.url)
const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/guides/*.md', 'docs/operate/*.md']

type Written = { readonly at: string; readonly words: readonly string[] }

/** Every command line of a page: the lines of its code blocks and its code in text that call `postroad`. */
function commandsOf(page: string): readonly Written[] {
  const text = readFileSync(new URL(page, ROOT), 'utf8').replaceAll(/\\\n\s*/g, ' ')
  return text.split('\n').flatMap((line, index) => {
    const isCode = /^(?:\$ |npm run |npx )?postroad( |$)/.test(line)
    const pieces = isCode ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
    return pieces
      .map((code) => /^(?:\$ |npm run |npx )?postroad(?: --)? +(.+)$/.exec(code)?.[1])
      .filter((rest) => rest !== undefined)
      .map((rest) => ({ at: `${page}:${index + 1}`, words: wordsOf(rest) }))
  })
}

/** Splits as a shell does, up to a comment, a pipe or a redirect. */
function wordsOf(text: string): readonly string[] {
  const words = [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word)
  const end = words.findIndex((word) => /^(?:#|\||<|>|>>|&&|;)$/.test(word))
  return end < 0 ? words : words.slice(0, end)
}

/** Why the command line would not be understood; undefined when it would. */
function faultOf(words: readonly string[], program: Command): string | undefined {
  let at = program
  let depth = 0
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (next === undefined) break
    at = next
    depth += 1
  }
  const rest = words.slice(depth)
  const hasOnlyCommands = at.commands.length > 0 && at.registeredArguments.length === 0
  if (hasOnlyCommands && rest[0] !== undefined && !rest[0].startsWith('-')) return `no command "${rest[0]}"`
  const known = [program, at].flatMap(({ options }) => options)
  const wrong = rest
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.split('=')[0] ?? word)
    .find((word) => word !== '--help' && !known.some(({ long, short }) => long === word || short === word))
  return wrong === undefined ? undefined : `no option "${wrong}"`
}

test('every command in the guides and the README exists, with its options', () => {
  const program = createProgram()
  const written = PAGES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted()).flatMap(commandsOf)
  assert.ok(written.length > 100, String(written.length))
  const faults = written.flatMap(({ at, words }) => {
    const fault = faultOf(words, program)
    return fault === undefined ? [] : [`${at}: postroad ${words.join(' ')}: ${fault}`]
  })
  assert.deepEqual(faults, [])
})
