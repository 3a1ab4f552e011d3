import type { IncomingMessage } from 'node:http'
import { RequestError } from './respond.js'

const MAX_BYTES = 16_384

/** Reads the JSON object in a request, which a body parser may have read before. Rejects with `RequestError`. */
export async function readJson(req: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? ''))
    throw new RequestError(415, 'The body must be application/json.')
  const { body: parsed } = req as { body?: unknown }
  const value = parsed === undefined ? parse(await readText(req)) : parsed
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new RequestError(400, 'The body must be a JSON object.')
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new RequestError(413, `The body is larger than ${MAX_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestError(400, 'The body is not JSON.')
  }
}
