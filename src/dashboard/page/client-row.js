import { el, setChildren, setText } from './dom.js'
import { clock, count, counted, rate, spelled } from './format.js'
import { clientLink } from './limit-tables.js'

/** Creates the row of a denied client: who it is and where it was denied, how often, when, and from where. */
export function clientRow({ onSelect, onNetwork }) {
  const box = el('input', {
    type: 'checkbox',
    onclick: ({ shiftKey }) => onSelect(element, box.checked, shiftKey),
  })
  const name = el('div', { class: 'who' })
  const routes = el('div', { class: 'sub routes' })
  const denied = el('b', {})
  const perSecond = el('div', { class: 'sub' })
  const first = el('span', {})
  const last = el('div', {})
  const addresses = el('div', {})
  const networks = el('div', { class: 'sub' })
  const element = el(
    'tr',
    { class: 'client' },
    el('td', { class: 'pick' }, box),
    el('td', { class: 'client' }, name, routes),
    el('td', { class: 'denied number' }, denied, perSecond),
    el('td', { class: 'when' }, el('div', {}, first), el('div', { class: 'sub' }, last)),
    el('td', { class: 'from' }, addresses, networks),
  )

  function show(client) {
    element.client = client
    setChildren(name, `${client.label}/${client.identity}`, () => namesOf(client))
    box.setAttribute('aria-label', `Select ${spelled(client.identity)}`)
    setText(routes, routesOf(client))
    setText(denied, count(client.denied))
    setText(perSecond, client.deniedPerSecond > 0 ? `${rate(client.deniedPerSecond)}/s` : 'none now')
    setText(first, clock(client.firstDeniedMs))
    setText(last, `to ${clock(client.lastDeniedMs)}`)
    setText(addresses, client.addresses === 0 ? '–' : counted(client.addresses, 'address'))
    const shown = client.networks.slice(0, 2)
    setChildren(networks, shown.map(({ network }) => network).join(), () =>
      shown.map(({ network }) =>
        el(
          'button',
          {
            type: 'button',
            class: 'network',
            title: 'Show the clients in this network',
            onclick: () => onNetwork(network),
          },
          network,
        ),
      ),
    )
  }

  element.check = (isOn) => {
    box.checked = isOn
    element.classList.toggle('is-selected', isOn)
  }
  return { element, show }
}

function namesOf({ label, identity: text }) {
  if (label === undefined) return [clientLink(text)]
  return [el('bdi', { class: 'label' }, spelled(label)), ' ', clientLink(text)]
}

function routesOf({ limitName, routes }) {
  const shown = routes.slice(0, 3).map(({ route, denied }) => `${spelled(route)} (${count(denied)})`)
  return [limitName, ...shown].join(' · ')
}
