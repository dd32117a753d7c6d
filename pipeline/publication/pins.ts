import { dirname } from 'node:path'
import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { readTextIfAny, realFiles, replaceFile } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { Timestamp } from '../contract/ranking.ts'
import type { Pin } from './trust.ts'

const PinSchema = z.strictObject({
  keys: z.array(z.string()).min(1),
  events: z.int().positive(),
  head: z.string(),
  issued: Timestamp,
})

/** By place: the address or the folder of a signed site. */
const Pins = z.record(z.string(), PinSchema)

/** Throws `CliError` if the file is damaged: without it nothing would be known of what was seen before. */
export async function readPin(file: string, place: string): Promise<Pin | undefined> {
  return (await readPins(file))[place]
}

/** Keeps the pin of a place. */
export async function keepPin(file: string, place: string, pin: Pin): Promise<void> {
  const pins = await readPins(file)
  if (JSON.stringify(pins[place]) === JSON.stringify(pin)) return
  await realFiles.makeFolder(dirname(file))
  const next = `${file}.${process.pid}.next`
  await replaceFile(realFiles, file, toJson({ ...pins, [place]: pin }), { next })
}

async function readPins(file: string): Promise<z.infer<typeof Pins>> {
  const text = await readTextIfAny(file)
  return text === undefined ? {} : parseJson(Pins, text, file, CliError)
}
