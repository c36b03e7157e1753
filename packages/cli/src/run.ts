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
  try {
    await createProgram().parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    // Commander has said it already; help and --version come this way too, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const { exitCode, sentence, json } = await tellingOf(error)
    console.error(args.includes('--json') ? JSON.stringify(json) : `postroad: ${sentence}`)
    return exitCode
  }
}
