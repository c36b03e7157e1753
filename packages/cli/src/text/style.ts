import { styleText } from 'node:util'

/** Colour stands only at a terminal and honours NO_COLOR; nothing is said by colour alone. */
export const style = {
  dim: (text: string): string => styleText('dim', text),
  strong: (text: string): string => styleText('bold', text),
  good: (text: string): string => styleText('green', text),
  waits: (text: string): string => styleText('yellow', text),
  bad: (text: string): string => styleText('red', text),
  live: (text: string): string => styleText('cyan', text),
  none: (text: string): string => text,
} as const
