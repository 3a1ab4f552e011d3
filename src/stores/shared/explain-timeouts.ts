import { processWide } from '../../util/process-wide.js'

/** Returns why calls of a client may be timing out now, and the fix; `undefined` if it shows no reason. */
export type ExplainTimeout = () => string | undefined

const explanations = processWide('time-outs', () => new WeakMap<object, ExplainTimeout>())

/** Sets the function that explains the time-outs of a client. Only its store knows how it shows the cause. */
export function explainTimeouts(client: object, explain: ExplainTimeout): void {
  explanations.set(client, explain)
}

/** Returns why calls of a client may be timing out now, if it shows that. */
export function whyTimedOut(client: object | undefined): string | undefined {
  return client && explanations.get(client)?.()
}
