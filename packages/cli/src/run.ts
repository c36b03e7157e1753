import { CommanderError } from 'commander'
import { EXIT, tellingOf } from './failure.ts'
import { createProgram } from './program.ts'

/** Runs one command and gives the exit code. What was asked for is on stdout, everything else on stderr. */
export async function run(args: readonly string[]): Promise<number> {
  // `… | head` closes the pipe when it has seen enough: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(EXIT.ok)
  })
  const json = args.includes('--json')
  try {
    await createProgram({ json }).parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and --version come this way too, with exit code 0; Commander has said it already, but for an object it is asked for.
      if (error.exitCode !== 0 && json) console.error(JSON.stringify({ error: usageText(error), reason: 'usage' }))
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    }
    const { exitCode, sentence, json: object } = await tellingOf(error)
    console.error(json ? JSON.stringify(object) : `postroad: ${sentence}`)
    return exitCode
  }
}

/** In one line, as people read it too. */
function usageText({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'Name a command. Add --help to see which there are.'
  const said = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
  return `${said}${/[.)]$/.test(said) ? '' : '.'} Add --help to see how it is used.`
}
