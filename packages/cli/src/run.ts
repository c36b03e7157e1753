import { CommanderError } from 'commander'
import { Ended, EXIT, reportOf } from './failure.ts'
import { complain, io, withIo, type Io } from './io.ts'
import { createProgram } from './program.ts'

/** Runs one command, `start` by default, and returns its exit code. The result goes to stdout, everything else to stderr. */
export function run(args: readonly string[], on: Io = io()): Promise<number> {
  return withIo(on, () => runCommand(args))
}

async function runCommand(args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    await createProgram({ json, args }).parseAsync(args.length === 0 ? ['start'] : [...args], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof Ended) return error.exitCode
    if (error instanceof CommanderError) {
      // Help and --version end here too, with exit code 0. Commander has printed the text, unless the caller asked for an object.
      if (error.exitCode !== 0 && json) complain(JSON.stringify({ error: usageText(error), reason: 'usage' }))
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    }
    const { exitCode, sentence, json: object } = await reportOf(error)
    complain(json ? JSON.stringify(object) : `postroad: ${sentence}`)
    return exitCode
  }
}

/** The usage error in one line, in the words that people read. */
function usageText({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'Name a command. Add --help to list the commands.'
  const said = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
  return `${said}${/[.)]$/.test(said) ? '' : '.'} Add --help for usage.`
}
