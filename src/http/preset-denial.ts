import type { HeaderList, ResponseWriter } from './response-writer.js'

/** Takes back what a response was given, unless its headers have been sent. */
interface PresetDenial {
  /** Sets the status from before again. */
  restoreStatus(): void
  /** Sets the status and the headers from before again. */
  withdraw(): void
}

/** Gives a response the status and the headers of a denial, for an application that sends the rest. */
export function presetDenial<Res>(
  writer: ResponseWriter<Res>,
  res: Res,
  status: number,
  headers: HeaderList,
): PresetDenial {
  const names = headers.filter((_, i) => i % 2 === 0)
  const before = names.map((name) => [name, writer.getHeader(res, name)] as const)
  const putStatusBack = writer.presetStatus(res, status)
  writer.setHeaders(res, headers)

  function restoreStatus(): void {
    if (!writer.areHeadersSent(res)) putStatusBack()
  }

  function withdraw(): void {
    if (writer.areHeadersSent(res)) return
    putStatusBack()
    for (const [name, value] of before) {
      if (value === undefined || value === null) writer.removeHeader(res, name)
      else writer.setHeaders(res, [name, String(value)])
    }
  }

  return { restoreStatus, withdraw }
}
