import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { refused, run } from './command-line.ts'

const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await run(['completion', shell], {})
  assert.deepEqual([code, stderr], [0, ''])
  return stdout
}

/** The words that bash offers after these. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = `COMP_WORDS=(postroad "$@"); COMP_CWORD=$#; _postroad; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await promisify(execFile)('bash', ['-c', `${await scriptOf('bash')}\n${line}`, 'bash', ...words])
  return stdout.trim().split('\n')
}

test('bash completes commands of every kind, their options and their choices', async () => {
  assert.ok((await offered('li')).includes('listen'))
  assert.deepEqual(await offered('ingest-keys', 'cr'), ['create'])
  assert.deepEqual(await offered('ingest-keys', 'create', '--sc'), ['--scopes'])
  assert.deepEqual(await offered('endpoints', '--json', 'update', 'x', '--sl'), ['--slug'])
  assert.deepEqual(await offered('endpoints', 'edit', '--sl'), ['--slug'])
  assert.deepEqual(await offered('completion', 'f'), ['fish'])
})

test('the scripts for zsh and fish name every command', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await scriptOf(shell)
    for (const word of ['listen', 'ingest-keys', 'rotate-signing-secret'])
      assert.ok(script.includes(word), `${shell} ${word}`)
  }
  refused(await run(['completion', 'csh'], {}), { code: 2, stderr: /Allowed choices are bash, zsh, fish/ })
})
