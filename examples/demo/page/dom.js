const SVG = 'http://www.w3.org/2000/svg'

export const byId = (id) => document.getElementById(id)

/** Creates an element with a class and text. Never parses text as HTML. */
export function element(tag, className, text = '') {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.textContent = text
  return made
}

/** Creates an SVG element inside a parent. */
export function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  parent.append(made)
  return made
}

/** Sets a text unless it is there already: screen readers and layout see real changes only. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** Announces a change to screen readers. Only for what the user did, and for what needs them. */
export function announce(text) {
  setText(byId('announcer'), text)
}

/** Calls `choose` with the value of a radio group now and at each change. */
export function onChoice(name, choose) {
  const radios = [...document.querySelectorAll(`[name=${name}]`)]
  for (const radio of radios) radio.addEventListener('change', () => choose(radio.value))
  choose(radios.find((radio) => radio.checked).value) // a browser that goes back restores the choice
}
