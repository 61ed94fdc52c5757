import { useReducer } from "react";
import { initialShifts } from "./rota.js";

function changed(shifts, action) {
  switch (action.type) {
    case "add":
      return [...shifts, action.shift];
    case "change":
      return shifts.map((shift) => (shift.id === action.id ? { ...shift, ...action.to } : shift));
    case "remove":
      return shifts.filter((shift) => shift.id !== action.id);
    case "reset":
      return initialShifts;
  }
}

function reduce(state, action) {
  if (action.type === "undo") {
    if (state.past.length === 0) return state;
    return { past: state.past.slice(0, -1), shifts: state.past.at(-1) };
  }
  return { past: [...state.past, state.shifts], shifts: changed(state.shifts, action) };
}

export function useRota() {
  const [state, dispatch] = useReducer(reduce, { past: [], shifts: initialShifts });
  return { shifts: state.shifts, canUndo: state.past.length > 0, dispatch };
}
