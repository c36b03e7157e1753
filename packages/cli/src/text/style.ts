import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import { io } from '../io.ts'

/** Node's decision, from the output and the environment of the command. */
export function hasColors(): boolean {
  const { env, stdout } = io()
  const isWanted = stdout.isTTY === true || env['FORCE_COLOR'] !== undefined
  return isWanted && WriteStream.prototype.getColorDepth(env) > 2
}

function styled(format: 'dim' | 'bold' | 'green' | 'yellow' | 'red' | 'cyan', text: string): string {
  return hasColors() ? styleText(format, text, { validateStream: false }) : text
}

/** Colors appear only at a terminal and respect NO_COLOR. No information depends on color alone. */
export const style = {
  dim: (text: string): string => styled('dim', text),
  strong: (text: string): string => styled('bold', text),
  good: (text: string): string => styled('green', text),
  waits: (text: string): string => styled('yellow', text),
  bad: (text: string): string => styled('red', text),
  live: (text: string): string => styled('cyan', text),
  none: (text: string): string => text,
} as const
