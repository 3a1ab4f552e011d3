import { forgetWarnings } from '../../../src/util/warn-once.js'

/** The codes of the process warnings told so far in this test. To be called before each test. */
export function listenForWarnings(): () => unknown[] {
  forgetWarnings()
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  return () => emitWarning.mock.calls.map(([, options]) => (options as { code?: unknown } | undefined)?.code)
}
