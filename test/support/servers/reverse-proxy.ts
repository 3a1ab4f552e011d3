import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOrInstall } from './install.js'
import { type Place, startProcess } from './processes.js'
import { HOST, ownServer, type Server } from './server.js'

/** Where a proxy responds with its folder, so that no other program on its port is mistaken for it. */
const READY = '/.ready'

/** The port that a proxy passes requests on to, and the setting that a test is about, as the proxy spells it. */
interface Passing extends Place {
  readonly upstream: number
  readonly setting: string
  /** Log formats, which nginx knows only outside of a server. */
  readonly formats: string
}

interface Kind {
  readonly args: (configuration: string) => readonly string[]
  readonly configuration: (passing: Passing) => string
}

const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const KINDS = {
  nginx: {
    args: (configuration) => ['-e', 'stderr', '-c', configuration],
    configuration: ({ port, folder, upstream, setting, formats }) => `
      daemon off;
      master_process off;
      pid ${folder}/pid;
      events {}
      http {
        access_log off;
        ${formats}
        proxy_cache_path ${folder}/cache keys_zone=pages:1m;
        ${NGINX_FOLDERS.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        server {
          listen ${HOST}:${port};
          location = ${READY} { return 200 ${folder}; }
          location / {
            proxy_pass http://${HOST}:${upstream};
            ${setting}
          }
        }
      }`,
  },
  haproxy: {
    args: (configuration) => ['-db', '-f', configuration],
    configuration: ({ port, folder, upstream, setting }) => `
      defaults
        mode http
        timeout connect 5s
        timeout client 30s
        timeout server 30s
        ${setting}
      listen proxy
        bind ${HOST}:${port}
        http-request return status 200 content-type text/plain string ${folder} if { path ${READY} }
        server app ${HOST}:${upstream}`,
  },
  caddy: {
    args: (configuration) => ['run', '--config', configuration],
    configuration: ({ port, folder, upstream }) =>
      JSON.stringify({
        admin: { disabled: true, config: { persist: false } },
        storage: { module: 'file_system', root: folder },
        apps: {
          http: { servers: { proxy: { listen: [`${HOST}:${port}`], routes: routes(folder, upstream) } } },
        },
      }),
  },
} satisfies Record<string, Kind>

/** What Caddy makes of `respond /.ready …` and `reverse_proxy …` in a Caddyfile. */
function routes(folder: string, upstream: number) {
  return [
    { match: [{ path: [READY] }], handle: [{ handler: 'static_response', body: folder }], terminal: true },
    { handle: [{ handler: 'reverse_proxy', upstreams: [{ dial: `${HOST}:${upstream}` }] }] },
  ]
}

/**
 * Starts a reverse proxy on loopback that passes requests on to the port `upstream` of this machine. It does
 * with `X-Forwarded-For` what it does by default, or what `setting` says.
 */
export async function startReverseProxy(
  name: keyof typeof KINDS,
  upstream: number,
  setting = '',
  formats = '',
): Promise<Server> {
  const { args, configuration }: Kind = KINDS[name]
  const program = await findOrInstall({ program: name, debianPackage: name })
  const fileIn = ({ folder }: Place) => join(folder, 'configuration')
  const server = await startProcess({
    name,
    program,
    prepare: ({ port, folder }) =>
      writeFile(fileIn({ port, folder }), `${configuration({ port, folder, upstream, setting, formats })}\n`),
    args: (place) => args(fileIn(place)),
    ready: async ({ port, folder }) =>
      (await (await fetch(`http://${HOST}:${port}${READY}`)).text()) === folder,
  })
  return ownServer(server, `http://${HOST}:${server.port}`)
}
