/** Puts each second's state in place of the one before. Without this script the page shows the state of its loading. */
const live = document.querySelector('#live')
const events = new EventSource('/live')
events.addEventListener('message', ({ data }) => {
  live.innerHTML = data
})
