import { CommanderError } from 'commander'
import { EXIT, tellingOf } from './failure.ts'
import { complain, io, withIo, type Io } from './io.ts'
import { createProgram } from './program.ts'

/** Runs one command and returns its exit code. The answer is on stdout, everything else on stderr. */
export function run(args: readonly string[], on: Io = io()): Promise<number> {
  return withIo(on, () => runCommand(args))
}

async function runCommand(args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    await createProgram({ json }).parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and --version come this way too, with exit code 0; Commander has said it already, but for an object it is asked for.
      if (error.exitCode !== 0 && json) complain(JSON.stringify({ error: usageText(error), reason: 'usage' }))
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    }
    const { exitCode, sentence, json: object } = await tellingOf(error)
    complain(json ? JSON.stringify(object) : `postroad: ${sentence}`)
    return exitCode
  }
}

/** In one line, as people read it too. */
function usageText({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'Name a command. Add --help to see which there are.'
  const said = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
  return `${said}${/[.)]$/.test(said) ? '' : '.'} Add --help to see how it is used.`
}
