import type { IncomingMessage } from 'node:http'
import { RequestError } from './respond.js'

/** As much as a thousand identities need. */
const MAX_BYTES = 262_144

/**
 * Reads the JSON object in a request, which a body parser may have read before. Rejects with `RequestError`.
 */
export async function readJson(
  req: IncomingMessage & { readonly body?: unknown },
): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new RequestError(415, 'The body must be application/json.')
  // A body parser of Express 4 sets an empty body if it has left the request to others.
  const value = req.readableDidRead ? req.body : parse(await readText(req))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new RequestError(400, 'The body must be a JSON object.')
}

/** Reads the body, to its end even if it is too large, so that the client reads the response. */
async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) throw new RequestError(413, `The body is larger than ${MAX_BYTES} bytes.`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof RequestError) {
      req.resume()
      throw error
    }
    throw new RequestError(400, 'The request was aborted.')
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
