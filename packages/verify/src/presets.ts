import { readdirSync, readFileSync } from 'node:fs'
import type { Preset } from './sent-request.ts'

/** The presets of providers, by their ids. The published package has a generated file instead, which reads nothing. */

const FOLDER = new URL('../presets/', import.meta.url)

export const presets: Readonly<Record<string, Preset>> = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server parses each of these files with its schema
      const preset = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Preset
      return [preset.id, preset]
    }),
)
