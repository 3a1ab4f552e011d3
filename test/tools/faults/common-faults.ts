import { setTimeout as pause } from 'node:timers/promises'
import type { FaultyProxy } from '../../support/proxy.js'
import type { Fault } from './stage.js'

const AGAIN_MS = 100
const SHORT_MS = 1500

export function killFault(losses: number, forMs = SHORT_MS): Fault {
  return {
    name: 'killed',
    losses,
    async inflict({ server, proxy }) {
      await proxy.refuse()
      await server.kill('SIGKILL')
      await pause(forMs)
      await server.restart()
      await proxy.accept()
    },
  }
}

export function freezeFault(forMs: number): Fault {
  return {
    name: 'frozen',
    async inflict({ server }) {
      await server.kill('SIGSTOP')
      await pause(forMs)
      await server.kill('SIGCONT')
    },
  }
}

export const cutInMidAnswer: Fault = {
  name: 'cut in mid-answer',
  async inflict({ proxy }) {
    await repeat(SHORT_MS, AGAIN_MS, () => proxy.behave({ cutReplyAt: 5 }))
    await proxy.heal()
  },
}

export const refusedAtStart: Fault = {
  name: 'refused at start',
  before: ({ proxy }) => proxy.refuse(),
  async inflict({ proxy }) {
    await pause(2000)
    await proxy.accept()
  },
}

/** What any store may meet. `losses` is how often it forgets all when it is killed. */
export function commonFaults(losses: number): readonly Fault[] {
  return [
    killFault(losses),
    freezeFault(5000),
    cutInMidAnswer,
    slow(90),
    slow(150),
    {
      name: 'byte by byte',
      inflict: ({ proxy }) => whileIt(proxy, { msPerByte: 1 }, SHORT_MS),
    },
    {
      name: 'half-closed',
      inflict: ({ proxy }) => repeat(SHORT_MS, AGAIN_MS, () => proxy.halfClose('replies')),
    },
    refusedAtStart,
  ]
}

/** Adds latency, half of it each way. */
function slow(ms: number): Fault {
  const behaviour = { requestDelayMs: ms / 2, replyDelayMs: ms / 2 }
  return { name: `slow: ${ms} ms`, inflict: ({ proxy }) => whileIt(proxy, behaviour, 2000) }
}

/** Lets a proxy behave like that for a while. */
export async function whileIt(
  proxy: FaultyProxy,
  behaviour: Parameters<FaultyProxy['behave']>[0],
  forMs: number,
) {
  proxy.behave(behaviour)
  await pause(forMs)
  await proxy.heal()
}

/** Does something now, and then every `everyMs`. */
export async function repeat(forMs: number, everyMs: number, act: () => unknown): Promise<void> {
  for (let passedMs = 0; passedMs < forMs; passedMs += everyMs) {
    await act()
    await pause(everyMs)
  }
}
