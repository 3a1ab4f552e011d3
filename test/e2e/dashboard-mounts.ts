import http, { type IncomingMessage, type OutgoingHttpHeaders, type RequestListener } from 'node:http'
import express from 'express'
import type { Dashboard } from 'headgate/dashboard'
import type { Frame } from '../../src/dashboard/figures/shown.js'
import { type Answer, type Sent, send, type Target } from '../support/http.js'

/** A way to serve a dashboard. */
export interface Mount {
  readonly name: string
  /** The path of the page, without the slash at its end. */
  readonly path: string
  serve(page: Dashboard): RequestListener
}

export const ON_EXPRESS: Mount = {
  name: 'mounted on a path of Express',
  path: '/admin/limits',
  serve: (page) => express().use('/admin', express.Router().use('/limits', page)),
}

export const ON_NODE_HTTP: Mount = {
  name: 'alone on node:http',
  path: '/limits',
  serve: (page) => (req, res) => page(req, res),
}

export const MOUNTS = [ON_EXPRESS, ON_NODE_HTTP] as const

/** What all responses have. */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': expect.stringContaining("default-src 'none'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Sends an action of the page. */
export function post(target: Target, path: string, body: unknown, sent: Sent = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...sent.headers }
  return send(target, { method: 'POST', path, body: JSON.stringify(body), ...sent, headers })
}

/** An open page: the stream of its frames. */
export interface OpenPage {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** What has arrived. */
  readonly frames: () => Frame[]
  /** What the visitor may do, as often as the server has said so. */
  readonly sessions: () => object[]
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>
  close(): void
}

/** Opens the stream of a page. */
export function openPage(
  { port }: Target,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<OpenPage> {
  return new Promise((resolve, reject) => {
    const req = http.get({ host: '127.0.0.1', port, path, headers, agent: false })
    req.on('error', reject)
    req.on('response', (res: IncomingMessage) => {
      let text = ''
      res.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      const ended = new Promise<void>((resolve) => res.once('end', resolve))
      res.on('error', () => undefined) // closed by the test
      const messages = (pattern: RegExp) =>
        Array.from(text.matchAll(pattern), ([, json = '']) => JSON.parse(json))
      const frames = () => messages(/\n\ndata: (.*)(?=\n\n)/g) as Frame[]
      const sessions = () => messages(/^event: session\ndata: (.*)$/gm) as object[]
      const close = () => void req.destroy()
      resolve({ status: res.statusCode ?? 0, headers: res.headers, frames, sessions, ended, close })
    })
  })
}
