import { keySlot } from './key-slot.js'
import type { Command, Transport } from './transport.js'

/** A command as words: its name and its arguments. */
export type CommandWords = readonly [name: string, ...args: string[]]

/** Creates a transport from a function that sends commands in order and returns a promise of each reply. */
export function commandTransport(
  send: (commands: readonly CommandWords[]) => readonly Promise<unknown>[],
  facts: Partial<Pick<Transport, 'batching' | 'hasSlots' | 'scriptsOn' | 'textReplies'>>,
): Transport {
  return {
    batching: undefined,
    serverOf: undefined,
    slotOf: keySlot,
    scriptsOn: undefined,
    ...facts,
    send: (commands) => [...send(commands.map(({ words }: Command) => words))],
  }
}
